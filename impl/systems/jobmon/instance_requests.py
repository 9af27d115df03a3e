"""How the server carries out requests about task instances."""

from __future__ import annotations

from . import requests as asked
from .draft import Draft
from .errors import Refused
from .records import ENDINGS, LAPSED, UNFINISHED, InstanceState, RunState, TaskInstance, WorkflowRun
from .requests import Report

S = InstanceState


class InstanceRequests:
    """Checks requests about task instances in a draft.

    Each method carries out its request, or raises Refused. It answers a repeated request as it did the first time.
    """

    # From distributors.

    def find_work(self, draft: Draft, request: asked.FindWork) -> Report:
        """Reports instances for a distributor.

        They are queued in a running run, in triage, to be removed from the cluster, or overdue.
        """
        running = {run.id for run in draft.find(WorkflowRun, status=RunState.RUNNING)}
        work: list[TaskInstance] = []
        busy = frozenset(request.busy)
        for each in draft.find(TaskInstance, status=UNFINISHED):
            queued = each.status is S.QUEUED and each.workflow_run_id in running
            removed = each.status is S.NO_HEARTBEAT or (each.status is S.LAUNCHED and each.doomed)
            # After the server starts, an overdue worker has one lease to renew its own: see Draft.may_reap.
            triaged = each.status is S.TRIAGING and (each.fenced or not draft.is_overdue(each) or draft.may_reap(each))
            overdue_now = each.status in LAPSED and draft.may_reap(each)
            if each.id not in busy and (queued or removed or triaged or overdue_now):
                work.append(each)
            if len(work) == request.limit:
                break
        leased = {*LAPSED, S.TRIAGING}
        overdue = tuple(each.id for each in work if each.status in leased and draft.may_reap(each))
        return Report("find work", instances=tuple(work), overdue=overdue, lease=draft.leases.instance)

    def claim(self, draft: Draft, request: asked.Claim) -> Report:
        """A distributor claims a queued instance of a running run."""
        it = draft.instance(request.instance)
        if it.status is S.INSTANTIATED and it.token == request.token:
            return self._done(draft, "claim", it)
        self._expect(it, S.QUEUED)
        run = draft.run(it.workflow_run_id)
        if it.doomed or run.status is not RunState.RUNNING:
            raise Refused(f"workflow run {run.id} of task instance {it.id} is {run.status}", state=it.status)
        claimed = draft.move(
            it, S.INSTANTIATED, distributor=request.distributor, token=request.token, report_by_date=draft.lease()
        )
        return self._done(draft, "claim", claimed, changed=True)

    def launched(self, draft: Draft, request: asked.Launched) -> Report:
        """The holder of the claim reports a job, before its lease runs out."""
        it = draft.instance(request.instance)
        if it.token == request.token and it.distributor_id == request.job:
            return self._done(draft, "launched", it)
        self._expect_claimed(it, request.token)
        self._refuse_lost(draft, it)
        launched = draft.move(it, S.LAUNCHED, distributor_id=request.job, report_by_date=draft.lease())
        return self._done(draft, "launched", launched, changed=True)

    def submission_failed(self, draft: Draft, request: asked.SubmissionFailed) -> Report:
        """The holder of the claim reports that there is no job, before its lease runs out."""
        it = draft.instance(request.instance)
        if it.token == request.token and it.status is S.NO_DISTRIBUTOR_ID:
            return self._done(draft, "submission failed", it)
        self._expect_claimed(it, request.token)
        self._refuse_overdue(draft, it)
        return self._done(draft, "submission failed", draft.move(it, S.NO_DISTRIBUTOR_ID), changed=True)

    def give_up(self, draft: Draft, request: asked.GiveUp) -> Report:
        """The holder of the claim gives up a doomed instance, before its lease runs out."""
        it = draft.instance(request.instance)
        if it.token == request.token and it.status is S.FATAL:
            return self._done(draft, "give up", it)
        self._expect_claimed(it, request.token)
        self._refuse_overdue(draft, it)
        self._expect_doomed(it)
        return self._done(draft, "give up", draft.move(it, S.FATAL), changed=True)

    def renew_launched(self, draft: Draft, request: asked.RenewLaunched) -> Report:
        """A distributor renews the leases of instances that it has launched and that are not overdue.

        The report lists the renewed instances.
        """
        renewed: list[TaskInstance] = []
        for number in request.instances:
            it = draft.instance(number)
            is_launched_by_sender = it.status is S.LAUNCHED and it.distributor == request.distributor
            if is_launched_by_sender and not draft.is_overdue(it):
                renewed.append(draft.change(it, report_by_date=draft.lease()))
        return Report("renew launched", bool(renewed), instances=tuple(renewed), lease=draft.leases.instance)

    def fence(self, draft: Draft, request: asked.Fence) -> Report:
        """Fences an instance in triage that is overdue."""
        it = draft.instance(request.instance)
        self._expect(it, S.TRIAGING)
        if it.fenced:
            return self._done(draft, "fence", it)
        if not draft.may_reap(it):
            raise Refused(f"task instance {it.id} is not overdue", state=it.status, for_good=False)
        return self._done(draft, "fence", draft.change(it, fenced=True), changed=True)

    def job_over(self, draft: Draft, request: asked.JobOver) -> Report:
        """Any distributor reports that nothing is left of a job."""
        it = draft.instance(request.instance)
        if request.seen not in (S.LAUNCHED, S.NO_HEARTBEAT, S.TRIAGING):
            raise Refused(f"the end of a job says nothing of an instance in {request.seen}", state=it.status)
        if it.status is self._after_job(it, request):
            return self._done(draft, "job over", it)
        self._expect(it, request.seen)
        if it.status is S.LAUNCHED:
            self._expect_doomed(it)
        if it.status is S.TRIAGING and not it.fenced:
            raise Refused(f"task instance {it.id} is not fenced", state=it.status, for_good=False)
        return self._done(draft, "job over", draft.move(it, self._after_job(it, request)), changed=True)

    def _after_job(self, it: TaskInstance, request: asked.JobOver) -> InstanceState:
        if request.seen is S.NO_HEARTBEAT:
            return S.ERROR
        if request.seen is S.LAUNCHED or it.doomed:
            return S.FATAL
        return S.RESOURCE_ERROR if request.resource_error else S.UNKNOWN_ERROR

    def hand_back(self, draft: Draft, request: asked.HandBack) -> Report:
        """Gives control back to the worker of an instance in triage, if the worker has renewed its lease."""
        it = draft.instance(request.instance)
        if it.status is S.RUNNING:
            return self._done(draft, "hand back", it)
        self._expect(it, S.TRIAGING)
        self._refuse_fenced(it)
        self._refuse_overdue(draft, it)
        return self._done(draft, "hand back", draft.move(it, S.RUNNING), changed=True)

    # From workers.

    def start(self, draft: Draft, request: asked.Start) -> Report:
        """Lets the worker of a launched instance start its command, before the lease runs out.

        Only the job that was launched may start, because triage would remove that job. A worker that asks too early may
        ask again. A worker that has been let start gets the same answer again.
        """
        it = draft.instance(request.instance)
        if it.status in (S.RUNNING, S.TRIAGING) and it.process_group_id == request.identity:
            self._refuse_fenced(it)
            return self._done(draft, "start", it)
        if it.status is S.INSTANTIATED and not (it.doomed or draft.is_overdue(it)):
            raise Refused(f"task instance {it.id} is not launched yet", state=it.status, for_good=False)
        self._expect(it, S.LAUNCHED)
        if it.distributor_id != request.identity:
            raise Refused(f"task instance {it.id} was not launched as {request.identity}", state=it.status)
        self._refuse_lost(draft, it)
        started = draft.move(it, S.RUNNING, process_group_id=request.identity, report_by_date=draft.lease())
        return self._done(draft, "start", started, changed=True)

    def renew_instance(self, draft: Draft, request: asked.RenewInstance) -> Report:
        """Renews the lease of an instance that is running or in triage; a distributor hands back one in triage."""
        it = draft.instance(request.instance)
        self._expect_mine(it, request.identity)
        self._expect(it, S.RUNNING, S.TRIAGING)
        self._refuse_fenced(it)
        renewed = draft.change(it, report_by_date=draft.lease())
        return self._done(draft, "renew instance", renewed, changed=True)

    def end(self, draft: Draft, request: asked.End) -> Report:
        """Records how the command ended, before the lease runs out: a worker renews first, then reports."""
        it = draft.instance(request.instance)
        if request.status not in ENDINGS:
            raise Refused(f"a command does not end as {request.status}", state=it.status)
        self._expect_mine(it, request.identity)
        if it.status is request.status:
            return self._done(draft, "end", it)
        self._expect(it, S.RUNNING)
        self._refuse_overdue(draft, it)
        return self._done(draft, "end", draft.move(it, request.status), changed=True)

    def killed(self, draft: Draft, request: asked.Killed) -> Report:
        """The worker of a doomed instance reports that the command is killed, before the lease runs out."""
        it = draft.instance(request.instance)
        self._expect_mine(it, request.identity)
        if it.status is S.FATAL:
            return self._done(draft, "killed", it)
        self._expect(it, S.RUNNING)
        self._refuse_overdue(draft, it)
        self._expect_doomed(it)
        return self._done(draft, "killed", draft.move(it, S.FATAL), changed=True)

    # From distributors and the reaper.

    def lapse(self, draft: Draft, request: asked.Lapse) -> Report:
        """Moves an overdue instance on."""
        it = draft.instance(request.instance)
        if it.status in LAPSED.values():
            return self._done(draft, "lapse", it)
        self._expect(it, *LAPSED)
        if not draft.may_reap(it):
            raise Refused(f"task instance {it.id} is not overdue", state=it.status, for_good=False)
        return self._done(draft, "lapse", draft.move(it, LAPSED[it.status]), changed=True)

    def _done(self, draft: Draft, request: str, it: TaskInstance, *, changed: bool = False) -> Report:
        return Report(request, changed, tasks=(draft.task(it.task_id),), instances=(it,), lease=draft.leases.instance)

    def _expect(self, it: TaskInstance, *states: InstanceState) -> None:
        if it.status not in states:
            raise Refused(f"task instance {it.id} is {it.status}, not {', '.join(states)}", state=it.status)

    def _expect_claimed(self, it: TaskInstance, token: str) -> None:
        self._expect(it, S.INSTANTIATED)
        if it.token != token:
            raise Refused(f"task instance {it.id} is claimed by another distributor, {it.distributor}", state=it.status)

    def _expect_mine(self, it: TaskInstance, identity: str) -> None:
        if it.process_group_id != identity:
            raise Refused(f"task instance {it.id} is not run by {identity}", state=it.status)

    def _expect_doomed(self, it: TaskInstance) -> None:
        if not it.doomed:
            raise Refused(f"task instance {it.id} is not doomed", state=it.status, for_good=False)

    def _refuse_fenced(self, it: TaskInstance) -> None:
        if it.fenced:
            raise Refused(f"task instance {it.id} is fenced", state=it.status)

    def _refuse_overdue(self, draft: Draft, it: TaskInstance) -> None:
        """Refuses for now: a heartbeat brings control back, if the state has one."""
        if draft.is_overdue(it):
            raise Refused(f"task instance {it.id} is overdue", state=it.status, for_good=False)

    def _refuse_lost(self, draft: Draft, it: TaskInstance) -> None:
        if it.doomed:
            raise Refused(f"task instance {it.id} is doomed", state=it.status)
        if draft.is_overdue(it):
            raise Refused(f"task instance {it.id} is overdue", state=it.status)
