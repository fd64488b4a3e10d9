"""Characters that Word keeps as a number of a symbol font (`w:sym`): Adobe's Symbol encoding and
the signs of Wingdings that stand in running text."""

REPLACEMENT = "\ufffd"
# From 0x20 and from 0xA0 on; a blank stands where the font has no character of Unicode.
LOW = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?"
    "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"
    "‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
)
HIGH = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵"
    "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓"
    "◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
SYMBOL = {
    **dict(enumerate(LOW, start=0x20)),
    **dict(enumerate(HIGH, start=0xA0)),
}
WINGDINGS = {
    0x20: " ",
    0x4A: "☺",
    0x4C: "☹",
    0x6C: "●",
    0x6E: "■",
    0x6F: "□",
    0x71: "❑",
    0x75: "◆",
    0x76: "❖",
    0xA7: "▪",
    0xA8: "◻",
    0xD8: "➢",
    0xDF: "←",
    0xE0: "→",
    0xE1: "↑",
    0xE2: "↓",
    0xE8: "➔",
    0xF0: "⇨",
    0xFB: "✗",
    0xFC: "✓",
    0xFD: "☒",
    0xFE: "☑",
}
FONTS = {"symbol": SYMBOL, "wingdings": WINGDINGS}
# Word moves a symbol font's codes to this block of the private use area.
PRIVATE = range(0xF000, 0xF100)


def symbol(font: str, code: str) -> str:
    """The character of a font's code (hexadecimal); U+FFFD where Unicode has none that is known
    here."""
    try:
        number = int(code, 16)
        known = FONTS.get(font.strip().lower())
        if known is None and number not in PRIVATE:
            return chr(number).encode("utf-8", "replace").decode()
    except (ValueError, OverflowError):
        return REPLACEMENT
    return (known or {}).get(number & 0xFF, REPLACEMENT)
