"""The exceptions of the shim, of Kubernetes and of the way to the core."""


class ShimError(Exception):
    """The base of all exceptions that this package raises on purpose."""


class KubernetesError(ShimError):
    """Kubernetes refuses a call; nothing has changed there."""


class Overflow(ShimError):
    """Too many events wait for the dispatcher, which refuses this one."""


class SubmitError(ShimError):
    """A request did not reach the core; the ``send`` that the shim was given raises it."""
