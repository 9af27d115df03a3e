"""Takes random steps with the model and the program side by side, and compares their states after each."""

from drain.model import AS_WRITTEN
from hosts import Hosts, NotEmpty

from schedproof.testing import lockstep


class Beside(Hosts):
    """The program, as the model sees it."""

    def __init__(self, world):
        super().__init__(world.objects["Host"], world.objects["Job"])

    def observe(self):
        jobs = {j: {"state": state, "host": self.host.get(j)} for j, state in self.job.items()}
        return {"Host": {h: {"state": state} for h, state in self.state.items()}, "Job": jobs}


TestHosts = lockstep(AS_WRITTEN, Beside, refused=NotEmpty).TestCase
