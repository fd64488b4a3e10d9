"""Strings of foreign splitters put back to offsets: repeats, overlaps, folded white space, wrong
offsets, and what is lost."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lab.chunking.anchor import Anchored, anchor
from lab.chunking.fixed import by_spans
from lab.chunking.units import words


def anchored(text: str, *pieces: str | tuple[str, int], overlap: int = 0) -> Anchored:
    """Anchored with an overlap in characters."""
    named = [piece if isinstance(piece, tuple) else (piece, None) for piece in pieces]
    return anchor(text, named, lambda before: max(before[1] - overlap, before[0]))


def test_repeated_text_is_found_in_its_own_place() -> None:
    found = anchored("pump pump pump valve pump", "pump", "pump", "pump valve", "pump")
    assert found == Anchored(((0, 4), (5, 9), (10, 20), (21, 25)), (), 0)


def test_an_overlap_goes_back_no_further_than_it_may_and_leaves_no_gap() -> None:
    text = "pump pump pump valve pump pump pump valve pump"
    found = anchored(
        text,
        "pump pump pump valve",
        "pump valve pump pump",
        "pump pump pump valve",
        "valve pump",
        overlap=15,
    )
    assert found.spans == ((0, 20), (10, 30), (21, 41), (36, 46))
    assert (found.lost, found.uncovered) == ((), 0)


def test_a_string_may_repeat_the_whole_one_before_it() -> None:
    # RecursiveCharacterTextSplitter takes a short heading into the next chunk whole, as its
    # overlap.
    found = anchored(
        "Methods\nPlasmids.\nPlasmids were made.",
        "Methods",
        "Plasmids.",
        "Plasmids.\nPlasmids were made.",
        overlap=20,
    )
    assert found == Anchored(((0, 7), (8, 17), (8, 37)), (), 0)


def test_folded_white_space_is_no_loss_and_the_chunk_is_the_documents_own_text() -> None:
    text = "  A pump\n\n\n\nleaks.\tB  hums."
    found = anchored(text, "A pump\n\nleaks.", "B hums.")
    assert [text[slice(*span)] for span in found.spans] == ["A pump\n\n\n\nleaks.", "B  hums."]
    assert (found.lost, found.uncovered) == ((), 0)


def test_white_space_that_the_text_has_stays_with_its_string() -> None:
    assert anchored("one two  three", "one ", "two  ", "three").spans == ((0, 4), (4, 9), (9, 14))


def test_strings_own_white_space_decides_between_places() -> None:
    # Without white space "aa" stands at 0 and at 2, and the overlap lets both compete; only at 2
    # the text reads "aa".
    assert anchored("a aa a", "a", "aa", "a", overlap=5).spans == ((0, 1), (2, 4), (5, 6))


def test_an_altered_string_is_lost_and_its_text_is_uncovered() -> None:
    found = anchored(
        "The pump leaks. The valve hums. It is old.",
        "The pump leaks.",
        "the VALVE hums.",
        "It is old.",
    )
    assert found == Anchored(((0, 15), (32, 42)), ("the VALVE hums.",), len("Thevalvehums."))


def test_after_a_lost_string_the_search_goes_on_and_not_back() -> None:
    assert anchored("x one x", "x", "ONE", "x") == Anchored(((0, 1), (6, 7)), ("ONE",), 3)


def test_dropped_text_is_counted_wherever_it_lies() -> None:
    assert anchored(
        "# Head\nbody one\n# Next\nbody two\nend", "body one", "body two"
    ).uncovered == len("#Head#Nextend")
    assert anchored("nothing", "   ", "").uncovered == 7


def test_a_named_place_counts_only_where_the_text_is_the_string() -> None:
    # "go go" may begin at 3 or 6, both inside the overlap: the splitter knows. At 4 the text is
    # another.
    text = "go go go go go"
    assert anchored(text, "go go go", ("go go go", 6), overlap=5).spans == ((0, 8), (6, 14))
    assert anchored(text, "go go go", ("go go go", 4), overlap=5).spans == ((0, 8), (3, 11))
    # A place that leaves a gap is not believed either, though the text there is the string.
    assert anchored(text, "go", ("go", 12), ("go", 6)).spans == ((0, 2), (3, 5), (6, 8))


@settings(max_examples=300, deadline=None)
@given(
    vocabulary=st.lists(st.sampled_from(["a", "ab", "b", "水", "泵"]), min_size=1, max_size=30),
    blanks=st.sampled_from([" ", "\n\n", "\t "]),
    size=st.integers(1, 6),
)
def test_strings_without_overlap_come_back_to_where_they_were_cut(
    vocabulary: list[str], blanks: str, size: int
) -> None:
    text = blanks.join(vocabulary)
    spans = by_spans(words(text), size, 0)
    found = anchored(text, *(" ".join(text[slice(*span)].split()) for span in spans))
    assert list(found.spans) == spans
    assert (found.lost, found.uncovered) == ((), 0)
