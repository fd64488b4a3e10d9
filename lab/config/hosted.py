"""Models behind HTTP: the `[[encoder]]` and `[[reranker]]` tables of an experiment."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from lab.chunking.numbers import Count, Number, within
from lab.config.retriever import DAY, TIMEOUT_SECONDS
from lab.retrieval.config import LIKELIHOOD, MAXSIM

LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Before the host's name; the only place that a key is read from.
KEY = "LAB_KEY_"
# Texts of one request: what OpenAI's, TEI's and Cohere's servers take as they come, or nearly so.
BATCH, LARGEST_BATCH = 32, 2_048
# Tokens of a text that is read, where neither the file nor a tokenizer says.
TOKENS = 8_192

Price = Annotated[Number, within(0, 1e9)]


def address(url: str) -> str:
    """An address without what follows its path. Raises ValueError for what is no plain web
    address, and never repeats a secret in it."""
    wanted = "expected an address like http://host:8000/v1"
    try:
        parts = urlsplit(url.strip())
        plain = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ValueError(f"no address; {wanted}") from None
    if not plain or any(sign.isspace() or not sign.isprintable() for sign in url.strip()):
        raise ValueError(wanted)
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError(
            f"the address at {parts.hostname} holds a user, '?' or '#'; expected the address alone;"
            " keys are read from the environment"
        )
    return url.strip().rstrip("/")


def key_variable(url: str) -> str:
    """The variable of the environment that holds the key for a server. It is named after the host,
    so that no experiment file can send a key to another: `api.openai.com` is asked with
    LAB_KEY_API_OPENAI_COM. A hyphen is two underscores, an underscore three: hosts that differ have
    variables that differ."""
    host = (urlsplit(url).hostname or "").upper()
    return KEY + host.replace("_", "___").replace("-", "__").replace(".", "_").replace(":", "_")


def is_private(url: str) -> bool:
    """Whether what is sent can be read on the way by nobody: https, or within the machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in LOOPBACK


class _Hosted(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[^|:\s][^|:]*$")]
    url: str
    model: str = ""
    batch: Annotated[Count, within(1, LARGEST_BATCH, "a whole number")] = BATCH
    timeout_seconds: Annotated[float, Field(gt=0, le=DAY, strict=True)] = TIMEOUT_SECONDS
    price_per_million_tokens: Price = 0.0

    @field_validator("url", mode="before")
    @classmethod
    def _plain(cls, url: Any) -> str:
        return address(str(url))


class HostedEncoderConfig(_Hosted):
    """One `[[encoder]]`: a model of dense vectors that a server computes. `dense.model` calls it by
    its `name`.

    `api` is the form that the server speaks: `openai` (POST url/embeddings) or `tei` (POST
    url/embed, Hugging Face's text-embeddings-inference). `model` is what the server calls it. The
    prompts are put before every question and passage. Tokens are counted, and chunks cut by them,
    with the tokenizer of a local model (`tokenizer`), else words are; the server reads `max_tokens`
    of a text. `similarity` is how its authors compare vectors. `batch` texts are sent at once; an
    answer may take `timeout_seconds` and 16 MB.
    """

    api: Literal["openai", "tei"] = "openai"
    query_prompt: str = ""
    passage_prompt: str = ""
    tokenizer: str = ""
    max_tokens: Count | None = None
    similarity: Literal["cosine", "dot", "euclidean", "manhattan"] = "cosine"


def _free_name(name: Any) -> Any:
    if name in (MAXSIM, LIKELIHOOD):
        raise ValueError(f"'{name}' is a reranker of the lab; expected another name")
    return name


class HostedRerankerConfig(_Hosted):
    """One `[[reranker]]`: a model behind a server that scores texts for a question. `rerank.model`
    calls it by its `name`.

    `api` is the form that the server speaks, both POST url/rerank: `cohere` (also Jina's, vLLM's)
    or `tei`, whose raw scores are asked for. A question's texts are sent in requests of at most
    `batch`. Some bill tokens, some (Cohere) searches.
    """

    name: Annotated[str, BeforeValidator(_free_name), Field(pattern=r"^[^|:\s][^|:]*$")]
    api: Literal["cohere", "tei"] = "cohere"
    price_per_thousand_searches: Price = 0.0

    @model_validator(mode="after")
    def _one_price(self) -> "HostedRerankerConfig":
        if self.price_per_thousand_searches and self.price_per_million_tokens:
            raise ValueError(
                "expected one of price_per_million_tokens and price_per_thousand_searches"
            )
        return self
