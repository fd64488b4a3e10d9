"""Usage: what a hosted model was asked in one run, and what that costs."""

from dataclasses import dataclass
from typing import Any

from lab.config.hosted import HostedEncoderConfig, HostedRerankerConfig
from lab.errors import counted


@dataclass
class Usage:
    """Requests that were answered, and the `tokens` and `searches` that the server says it bills
    for them; None where it does not say."""

    requests: int = 0
    tokens: int | None = None
    searches: int | None = None

    def add(self, tokens: int | None, searches: int | None = None) -> None:
        """One more answer."""
        self.requests += 1
        if tokens is not None:
            self.tokens = (self.tokens or 0) + tokens
        if searches is not None:
            self.searches = (self.searches or 0) + searches

    def price(self, config: HostedEncoderConfig | HostedRerankerConfig) -> float | None:
        """In the currency of the file's prices; None where there is no price, or no count."""
        if config.price_per_million_tokens and self.tokens is not None:
            return self.tokens * config.price_per_million_tokens / 1e6
        per_search = getattr(config, "price_per_thousand_searches", 0.0)
        if per_search and self.searches is not None:
            return float(self.searches * per_search / 1e3)
        return None

    def record(self, config: HostedEncoderConfig | HostedRerankerConfig) -> dict[str, Any]:
        """For the manifest."""
        counts = {"requests": self.requests, "tokens": self.tokens, "searches": self.searches}
        return counts | {"price": self.price(config)}

    def text(self, config: HostedEncoderConfig | HostedRerankerConfig) -> str:
        """In a sentence; empty where nothing was asked."""
        if not self.requests:
            return ""
        parts = [counted(self.requests, "request")]
        if self.tokens is not None:
            parts.append(counted(self.tokens, "token"))
        if self.searches is not None:
            parts.append(f"{self.searches:,} billed search(es)")
        price = self.price(config)
        priced = "" if price is None else f", {price:.6g} at the file's price"
        return f"model {config.name} at {config.url}: {', '.join(parts)} in this run{priced}"


def count_of(record: Any, *path: str) -> int | None:
    """A whole number in an answer, at a path of keys; None where there is none."""
    for key in path:
        record = record.get(key) if isinstance(record, dict) else None
    whole = isinstance(record, int | float) and not isinstance(record, bool) and record >= 0
    return int(record) if whole and record == int(record) else None
