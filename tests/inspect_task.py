"""inspect_evals' StereoSet task over made-up records, answered by a made-up model; a process of its own, as Inspect leaves things open.

PYTHON -m tests.inspect_task FOLDER
"""

import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import multiple_choice, system_message
from inspect_evals.stereoset.stereoset import multiple_choice_scorer, record_to_sample

from tests.stereoset import as_hugging_face, record

TASK = "intersentence"
RAWS = [record(TASK, domain, number) for domain in ("gender", "race") for number in range(10)]
EPOCHS = 2
# With the tokens told, Inspect does not look for a tokenizer on the network.
USAGE = ModelUsage(input_tokens=90, output_tokens=4, total_tokens=104, input_tokens_cache_read=10)


def main() -> None:
    said = [f"ANSWER: {'ABC'[n % 3]}" for n in range(EPOCHS * len(RAWS))]
    outputs = [ModelOutput.from_content("served-x", text).model_copy(update={"usage": USAGE}) for text in said]
    dataset = MemoryDataset([record_to_sample(as_hugging_face(raw), TASK) for raw in RAWS])
    dataset.shuffle_choices(seed=3)
    task = Task(
        dataset=dataset,
        solver=[system_message("Choose."), multiple_choice()],
        scorer=[multiple_choice_scorer()],
        name="stereoset",
    )
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = eval(task, model, epochs=EPOCHS, log_dir=sys.argv[1], display="none", temperature=0.5)
    print(log.location)


if __name__ == "__main__":
    main()
