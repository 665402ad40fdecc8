"""Messages of clients are told from replies of models; each shape has an example, and is the first that fits it."""

import pytest

from stages.query.client_errors import Shape, failure_in, shapes

REPLIES = (
    "she",
    "她",
    "ANSWER: A",
    "Error: there is no such word, so I would say she.",
    "An error occurred to the nurse, so she corrected it.",
    "Something went wrong at the station, and she missed the train.",
    "A TimeoutError is raised when she waits too long.",
    "HTTP 404 is what she saw.",
    "Too few of the requests came from him.",
    "网络错误是她修好的。",
    '{"answer": "she"}',
    "The code is 429.",
)


@pytest.mark.parametrize("shape", shapes(), ids=lambda shape: f"{shape.client} {shape.failure} {shape.example[:20]}")
def test_each_shape_finds_its_example(shape: Shape) -> None:
    assert shape.regex.match(shape.example)
    assert failure_in(f"  {shape.example}\n") == shape.failure


@pytest.mark.parametrize("reply", REPLIES)
def test_a_reply_is_none(reply: str) -> None:
    assert failure_in(reply) is None
