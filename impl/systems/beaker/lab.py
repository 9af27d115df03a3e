"""Reports of the labs on executing recipes (lines 234-241)."""

from __future__ import annotations

from schedproof.impl.errors import Refused

from .draft import Draft
from .operations import Operations, Report, What
from .records import RecipeState


class Lab(Operations):
    """The operations of the lab controllers, recipe by recipe."""

    def installs(self, recipe: str) -> Report:
        """Reports that the recipe's system is being provisioned. A guest installs when its host runs.

        Raises:
            Refused: the recipe is unknown or not waiting, or the host does not run.
        """

        def work(draft: Draft) -> Report:
            it = draft.recipe(recipe)
            if it.host is not None and draft.recipe(it.host).state is not RecipeState.RUNNING:
                raise Refused(f"recipe {recipe} is a guest of {it.host}, which does not run yet")
            return self._advance(draft, recipe, RecipeState.WAITING, RecipeState.INSTALLING, What.INSTALLING)

        return self._transact(work)

    def runs(self, recipe: str) -> Report:
        """Reports that the recipe's tasks begin.

        Raises:
            Refused: the recipe is unknown or not installing.
        """
        return self._transact(
            lambda draft: self._advance(draft, recipe, RecipeState.INSTALLING, RecipeState.RUNNING, What.RUNNING)
        )

    def completes(self, recipe: str) -> Report:
        """Reports that the recipe's last task is completed.

        Raises:
            Refused: the recipe is unknown or not running.
        """

        def work(draft: Draft) -> Report:
            it = draft.recipe(recipe)
            if it.state is not RecipeState.RUNNING:
                raise Refused(f"recipe {recipe} is {it.state}, not running")
            draft.finish(it, RecipeState.COMPLETED)
            return Report(What.COMPLETED, it.recipe_set, recipe)

        return self._transact(work)

    def _advance(self, draft: Draft, recipe: str, before: RecipeState, after: RecipeState, what: What) -> Report:
        it = draft.recipe(recipe)
        if it.state is not before:
            raise Refused(f"recipe {recipe} is {it.state}, not {before}")
        draft.advance(it, after)
        return Report(what, it.recipe_set, recipe)
