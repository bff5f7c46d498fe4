from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from trec.cli.tensors import Tensor, asked, filled, keywords, tensor, value


@pytest.mark.parametrize("text", ["1,3,8", "1x3x8", "(1, 3, 8)", "[1,3,8]", " 1, 3, 8 ", "1,3,8,"])
def test_sizes_are_typed_in_many_ways(text: str) -> None:
    assert tensor(text) == Tensor((1, 3, 8))


@pytest.mark.parametrize(
    ("text", "dtype"), [("2:int64", "int64"), ("2:i64", "int64"), ("2:torch.bool", "bool"), ("2:long", "int64")]
)
def test_a_type_may_follow(text: str, dtype: str) -> None:
    assert tensor(text) == Tensor((2,), dtype)


@pytest.mark.parametrize("text", ["", "()"])
def test_a_scalar_has_no_sizes(text: str) -> None:
    assert tensor(text) == Tensor(())


@pytest.mark.parametrize("text", ["a", "1,-2", "1.5", "1,,2", "1 2", "x", "1,2:", "1,2:int65", ",1"])
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError):
        tensor(text)


def test_json_holds_tensors_where_it_says_so() -> None:
    found = value('[{"shape": [2], "dtype": "f16"}, {"boxes": {"shape": []}, "name": "a"}, null, 3]')
    assert found == [Tensor((2,), "float16"), {"boxes": Tensor(()), "name": "a"}, None, 3]
    numbers = iter(range(9))
    assert list(asked(found)) == [Tensor((2,), "float16"), Tensor(())]
    assert filled(found, lambda: next(numbers)) == [0, {"boxes": 1, "name": "a"}, None, 3]


@pytest.mark.parametrize("text", ["{", '{"shape": 3}', '{"shape": [-1]}', '{"shape": [1], "dtype": "x"}', "nothing"])
def test_what_is_no_input_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError):
        value(text)


def test_keyword_arguments_are_shapes_or_json() -> None:
    assert keywords("mask=1,4:bool") == {"mask": Tensor((1, 4), "bool")}
    assert keywords('{"flag": false, "x": {"shape": [2]}}') == {"flag": False, "x": Tensor((2,))}
    for text in ("mask", "a b=1", "mask=true", "[1]"):
        with pytest.raises(ArgumentTypeError):
            keywords(text)
