"""Training a model: stopped early on documents that it does not see, gone on with after a stop, and
written whole or not at all."""

import math
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lab.errors import LearningError
from lab.learning.card import read_card, write_card
from lab.learning.mined import Mined
from lab.learning.trainers import ROWS, kit_of, loss_of, model_of, need_extra, prompts_of
from lab.learning.training import Split, Training, check_together, split
from lab.retrieval.models import model_identity
from lab.storage.folder import obstacle, replacing
from lab.storage.interrupt import Interrupted
from lab.storage.progress import Progress
from lab.versions import LAB, version_of

# Looks at the loss an epoch, and how many of them without a lower one end the training.
LOOKS, PATIENCE = 4, 3
KEY = "key"
PACKAGES = (LAB, "sentence-transformers", "transformers", "torch")


def check_model_place(path: Path) -> None:
    """Raises LearningError when a model cannot be written there."""
    reason = obstacle(path)
    if reason:
        raise LearningError(f"{path}: cannot be written ({reason}); name another with --out")
    if path.exists() and read_card(path) is None:
        raise LearningError(f"{path}: exists and is no model that lab train made; name another")


def train(
    training: Training, sources: Mapping[Path, Mined], place: Path, progress: Progress
) -> dict[str, Any]:
    """Train on mined examples and write the model's folder with its card; returns the card's
    record. A model that was trained just so is there already and stays; one that was stopped goes
    on from its last look at the loss.

    Raises LearningError for leaks, for folders that do not go together and where nothing can be
    written, ModelError for a base that cannot be trained.
    """
    need_extra()
    check_model_place(place)
    check_together(sources)
    parts, key = split(sources, training.seed), training.key(sources)
    there = read_card(place)
    if there is not None and there["key"] == key:
        progress.note(f"{place} was trained just so; it stays as it is")
        return there
    work = place.parent / f".{place.name}-training"
    _begin(work, key)
    began = time.perf_counter()
    trainer, figures = _fit(training, parts, work, progress)
    record = {
        "format": 1,
        "name": place.name,
        "key": key,
        "settings": asdict(training),
        "base_identity": model_identity(training.base),
        "sources": [_source(path, mined) for path, mined in sources.items()],
        "stopping_documents": list(parts.documents),
        "figures": figures | {"seconds": round(time.perf_counter() - began, 1)},
        "versions": {name: version_of(name) for name in PACKAGES},
    }
    with replacing(place) as fresh:
        trainer.model.save_pretrained(str(fresh), create_model_card=False)
        write_card(fresh, record)
    shutil.rmtree(work, ignore_errors=True)
    return record


def _begin(work: Path, key: str) -> None:
    """The folder of checkpoints, emptied unless it is of the same training."""
    try:
        if work.exists() and (work / KEY).read_text("utf-8") != key:
            shutil.rmtree(work)
    except OSError:
        shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    (work / KEY).write_text(key, "utf-8")


def _fit(
    training: Training, parts: Split, work: Path, progress: Progress
) -> tuple[Any, dict[str, Any]]:
    """The trainer when it has ended, with the best model it saw, and its figures."""
    from datasets import Dataset, disable_progress_bars
    from torch import cuda
    from transformers import EarlyStoppingCallback, PrinterCallback
    from transformers.trainer_utils import get_last_checkpoint

    disable_progress_bars()
    rows, stop = (ROWS[training.loss](examples) for examples in (parts.train, parts.stop))
    model = model_of(training)
    kit = kit_of(training.kind)
    look = max(1, -(-len(rows) // training.batch) // LOOKS)
    arguments = kit.arguments(
        output_dir=str(work),
        num_train_epochs=training.epochs,
        per_device_train_batch_size=training.batch,
        per_device_eval_batch_size=training.batch,
        learning_rate=training.learning_rate,
        warmup_steps=0.1,  # of all steps
        seed=training.seed,
        data_seed=training.seed,
        eval_strategy="steps",
        eval_steps=look,
        save_strategy="steps",
        save_steps=look,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        # One text twice in a batch would be its own negative.
        batch_sampler="no_duplicates" if training.kind != "reranker" else "batch_sampler",
        logging_strategy="no",
        report_to="none",
        dataloader_pin_memory=cuda.is_available(),
        disable_tqdm=True,
        **({"prompts": prompts} if (prompts := prompts_of(training)) else {}),
    )
    trainer = kit.trainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_list(rows),
        eval_dataset=Dataset.from_list(stop),
        loss=loss_of(training, model, rows),
        callbacks=[EarlyStoppingCallback(PATIENCE), _reporter(progress)],
    )
    trainer.remove_callback(PrinterCallback)
    last = get_last_checkpoint(str(work))
    before = float(trainer.evaluate()["eval_loss"])
    if last:
        progress.note(f"going on from step {Path(last).name.rpartition('-')[2]} in {work}")
    try:
        trainer.train(resume_from_checkpoint=last)
    except KeyboardInterrupt:
        kept = get_last_checkpoint(str(work))
        step = Path(kept).name.rpartition("-")[2] if kept else "0"
        raise Interrupted(
            f"training is kept up to step {step} in {work}; the same command goes on from there"
        ) from None
    state = trainer.state
    looks = {
        int(log["step"]): float(log["eval_loss"])
        for log in state.log_history
        if "eval_loss" in log and log["step"]
    }
    if not all(map(math.isfinite, looks.values())):
        raise LearningError("the loss is no number any more; train anew with less --learning-rate")
    best = min(looks, key=lambda step: (looks[step], step))
    return trainer, {
        "examples": len(parts.train),
        "stopping": len(parts.stop),
        "loss_before": before,
        "loss": looks[best],
        "best_step": best,
        "steps": int(state.max_steps),
        "ended_at": int(state.global_step),
        "looks": [[step, loss] for step, loss in sorted(looks.items())],
    }


def _reporter(progress: Progress) -> Any:
    """A callback that tells progress of every step."""
    from transformers import TrainerCallback

    class Reporter(TrainerCallback):  # type: ignore[misc]  # its types are not followed
        def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            self.advance = progress.stage("train", state.max_steps - state.global_step)

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            self.advance(1)

    return Reporter()


def _source(path: Path, mined: Mined) -> dict[str, Any]:
    """What the card says of a folder of examples."""
    facts, sealed = mined.facts, mined.sealed
    return {
        "folder": str(path),
        "name": facts["name"],
        "run": facts["run"],
        "corpus": facts["corpus"]["fingerprint"],
        "questions": facts["questions"],
        "systems": facts["systems"],
        "examples": len(mined.examples),
        "sha256": mined.digest,
        "sealed": sealed.digest,
        "sealed_questions": len(sealed.query_ids),
    }
