"""The endpoint that asks a model under a protocol: which of the ways there are, by what its entry says."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from stages.params import Model, Protocol
from stages.query.endpoints import Endpoint, reached
from stages.query.faults import key_of
from stages.query.likelihood import LikelihoodEndpoint, LlamaCpp
from stages.query.prompt_logprobs import PromptLogprobs
from stages.query.scoring import Scorer, ScoringEndpoint


@asynccontextmanager
async def opened(
    model: Model, protocol: Protocol, base: str | None, prompt: str, words: Sequence[str]
) -> AsyncIterator[Endpoint]:
    """The endpoint that asks ``protocol``: constrained to ``words``, as they follow ``prompt``, where the entry says so.

    A text is free: nothing in it is constrained.
    """
    if protocol.scored:
        async with scorer(model, base or "") as found:
            yield ScoringEndpoint(found, model)
        return
    if model.constrain is None or base is None or protocol.written:
        async with reached(model, protocol, base) as endpoint:
            yield endpoint
        return
    async with LlamaCpp(base, model.top_logprobs) as server:
        tokens = await server.continuations(prompt, words)
        single = {word: ids[0] for word, ids in tokens.items() if len(ids) == 1}
        async with reached(model, protocol, base, single) as endpoint:
            yield LikelihoodEndpoint(server, endpoint, single)


def scorer(model: Model, base: str) -> AbstractAsyncContextManager[Scorer]:
    """The server of ``model`` at ``base``, as its entry says that it tells likelihoods."""
    if model.likelihood == "llama_cpp":
        return LlamaCpp(base, top=1, key=key_of(model), beginning=model.beginning)
    return PromptLogprobs(model, base)
