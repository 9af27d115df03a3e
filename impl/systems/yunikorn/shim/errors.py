"""What the shim and what it stands on raise."""


class ShimError(Exception):
    """Base of everything that this package raises on purpose."""


class KubernetesError(ShimError):
    """Kubernetes does not do what it was asked for; nothing has been changed there."""


class Overflow(ShimError):
    """The dispatcher has more waiting events than it may have: it takes no further one."""


class SubmitError(ShimError):
    """A request could not be handed to the core; raised by what the shim was given to send with."""
