"""What to expect of a pair though it fits: reasons for which it may draft badly or slowly."""

from __future__ import annotations

import re

from app.engine.gguf import GgufHeader
from app.engine.heads import are_heads

SMALL_TARGET_PARAMS = 3_000_000_000
"""Below this a second model seldom pays: reading the target's weights is nearly as quick as reading the draft's."""

LARGEST_SHARE = 1 / 3
"""A draft model larger than this share of its target seldom pays."""

_ON_CPU = {
    "npu": frozenset(("Q4_0", "Q4_1", "Q8_0", "IQ4_NL", "MXFP4", "Q4_K", "Q5_K", "Q6_K", "F16", "F32")),
    "gpu": frozenset(("F32", "F16", "BF16", "Q1_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"))
    | {"MXFP4", "IQ4_NL", "Q4_K", "Q5_K", "Q6_K"},
}
"""Types that ggml's Hexagon and OpenCL back ends multiply themselves; the others run on the processor."""

_BEST = {
    "npu": frozenset(("Q4_0", "Q8_0", "F16", "F32")),
    "gpu": frozenset(("Q4_0", "Q8_0", "F16", "F32")),
}
_DATE = re.compile(r"(?<!\d)(2[3-9](?:0[1-9]|1[0-2]))(?!\d)")


def cautions(target: GgufHeader, draft: GgufHeader | None, device: str = "cpu") -> tuple[str, ...]:
    """Return what to expect of a target with a draft file, or with none, on a device (``cpu``, ``gpu``, ``npu``)."""
    found = [*_about_device(target, "target", device)]
    if draft is None:
        return tuple(found)
    found += _about_device(draft, "draft", device)
    ours, theirs = scheme_of(target), scheme_of(draft)
    if ours != theirs and "" not in (ours, theirs):
        found.append(f"The target is stored in {ours}, the draft in {theirs}: alike they tend to agree more often.")
    if not are_heads(draft):
        found += _about_sizes(target, draft)
    return tuple(found + _about_training(target, draft))


def _about_device(header: GgufHeader, which: str, device: str) -> list[str]:
    known = _ON_CPU.get(device)
    if known is None:
        return []
    share = dict.fromkeys((True, False), 0)
    for tensor in header.tensors:
        if len(tensor.shape) > 1:
            share[tensor.kind.name in known] += tensor.n_bytes
    name = main_type(header)
    if share[False] > share[True]:
        return [f"Most of the {which} is stored as {name}, which the {device.upper()} leaves to the processor."]
    if name not in _BEST[device]:
        return [f"The {which} is stored as {name}; on the {device.upper()} Q4_0 or Q8_0 is faster."]
    return []


def main_type(header: GgufHeader) -> str:
    """Return the type of the tensors that takes the most bytes."""
    share: dict[str, int] = {}
    for tensor in header.tensors:
        share[tensor.kind.name] = share.get(tensor.kind.name, 0) + tensor.n_bytes
    return max(share, key=lambda name: share[name], default="")


def scheme_of(header: GgufHeader) -> str:
    """Return the family of the type that most of a model is stored in."""
    name = main_type(header)
    if name in ("F32", "F16", "BF16", "F64"):
        return "plain numbers"
    if name.startswith(("IQ", "TQ")):
        return f"{name[:2]} types"
    if name.endswith("_K"):
        return "K types"
    return "block types (Q4_0, Q8_0, …)" if name.startswith("Q") else name


def _about_sizes(target: GgufHeader, draft: GgufHeader) -> list[str]:
    ours, theirs = (sum(tensor.n_bytes for tensor in header.tensors) for header in (target, draft))
    found = []
    if ours and theirs > ours * LARGEST_SHARE:
        found.append(f"The draft has {theirs / ours:.0%} of the target's weights; above a third it seldom pays.")
    if target.n_params < SMALL_TARGET_PARAMS:
        found.append(
            f"The target is small ({target.n_params / 1e9:.1f} billion numbers): n-gram drafts, which cost nothing,"
            " are often better."
        )
    return found


def _about_training(target: GgufHeader, draft: GgufHeader) -> list[str]:
    found = []
    templates = target.chat_template, draft.chat_template
    if None not in templates and templates[0] != templates[1] and not are_heads(draft):
        found.append("The chat templates differ: the draft was tuned on conversations written in another way.")
    ours, theirs = training_date(target), training_date(draft)
    if ours != theirs:
        said = ", ".join(f"the {who} {date or 'names none'}" for who, date in (("target", ours), ("draft", theirs)))
        found.append(f"They were tuned at different times ({said}): they may have learnt different answers.")
    return found


def training_date(header: GgufHeader) -> str:
    """Return the year and month that the model's name carries, as in 2507; "" if it carries none."""
    for key in ("general.version", "general.finetune", "general.name"):
        if (match := _DATE.search(header.text(key) or "")) is not None:
            return match[1]
    return ""
