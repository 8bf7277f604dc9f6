"""What the tests that compare with transformers share: the library itself, offline and quiet, and random networks that show a wrong mask.

Without the library the test that imports this is skipped.
"""
import os

from harness import skip

os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import torch
    import transformers
except ImportError as error:
    skip(error)
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
torch.set_num_threads(1)

SHARP = {"q_proj": 3.0, "k_proj": 3.0}


def sharpen(model, scales=SHARP):
    """Random weights anew, attention far from even: with default ones a wrong mask or position would hardly show. `scales` by part of a
    matrix's name, times 1 / sqrt(inputs). An embedding has deviation 1 after a factor that the network gives it."""
    factor = getattr(model.get_input_embeddings(), "scalar_embed_scale", 1.0)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.dim() >= 2:
                scale = next((s for part, s in scales.items() if part in name), 1.0)
                weights.normal_(0, 1.0 / factor if "embed" in name else scale / weights.shape[-1] ** 0.5)
            elif "q_norm" in name or "k_norm" in name:
                weights.uniform_(1, 2.5)
            else:
                weights.uniform_(0.5, 1.5)


def masked_logits(model, tokens, positions, sees, rows=None):
    """fp64 logits [row, vocabulary] of one pass over `tokens`, where row q sees the rows k with `sees[q, k]`; of `rows` alone where given."""
    hidden = torch.finfo(model.dtype).min
    mask = torch.zeros(sees.shape, dtype=model.dtype).masked_fill_(~sees, hidden)
    with torch.inference_mode():
        return model(torch.tensor([tokens]), attention_mask=mask[None, None], position_ids=torch.tensor([positions]), use_cache=False,
                     logits_to_keep=0 if rows is None else torch.tensor(rows)).logits[0].double()
