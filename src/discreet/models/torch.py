"""PyTorch modules, through Opacus: an engine that samples, clips and adds noise as asked for. Needs the extra `torch`.

Opacus draws its noise in floating point and keeps its own accounts: what it promises is its own promise, not ours. So
there is no `Release` here, and its engine is asked for cryptographic randomness.
"""

from typing import Any

from discreet.errors import BadInput


def private_training(
    module: Any, optimizer: Any, loader: Any, *, epsilon: float, delta: float, epochs: int, clip: float = 1.0
) -> tuple[Any, Any, Any]:
    """Module, optimizer and loader with which training costs (epsilon, delta), one person added or removed."""
    try:
        from opacus import PrivacyEngine
    except ImportError:
        raise BadInput(
            "PyTorch modules are trained by Opacus, which is not installed; pip install discreet[torch]"
        ) from None
    engine = PrivacyEngine(accountant="prv", secure_mode=True)
    made: tuple[Any, Any, Any] = engine.make_private_with_epsilon(
        module=module,
        optimizer=optimizer,
        data_loader=loader,
        target_epsilon=epsilon,
        target_delta=delta,
        epochs=epochs,
        max_grad_norm=clip,
        poisson_sampling=True,
    )
    return made
