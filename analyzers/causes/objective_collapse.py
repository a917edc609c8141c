"""objective_collapse: the objective can be met, or stalled, without learning anything.

What it is: a generator, policy, code or representation has found a degenerate answer that its
    objective does not punish enough: one mode, one action, no information, one vector.
Told apart by: the objective's own signs: a discriminator that wins or a generator with few modes,
    entropy that vanishes early, a divergence of zero, embeddings without spread. Rare classes
    show in class counts; an embedding that holds most parameters shows in the checkpoint.
Try next: balance the two sides, add the term that rewards variety, lower the learning rate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.fixes import lower_learning_rate, shown
from ..core.registry import cause
from ..core.settings_lookup import Setting
from ..loss.lost_reward import BY_REWARD

_WEIGHTS = {
    "adversarial": 0.75,
    "policy": 0.75,
    "latent": 0.8,
    "representation": 0.75,
    "routing": 0.75,
    "codebook": 0.75,
    "attention": 0.6,
    "predictions": 0.35,
    "samples": 0.3,
}
_COEFFICIENTS = {
    "aimless": ("entropy_coef", "ent_coef", "entropy_coeff", "entropy_weight", "entropy_beta"),
    "policy": ("entropy_coef", "ent_coef", "entropy_coeff", "entropy_weight", "entropy_beta"),
    "latent": ("beta", "kl_weight", "kl_coef", "beta_vae"),
    "adversarial": ("d_lr", "d_lr_factor", "lr_d", "disc_lr", "d_steps", "n_critic"),
    "representation": ("temperature", "tau", "var_weight", "variance_weight"),
    "routing": ("aux_loss_coef", "router_aux_loss_coef", "aux_weight", "balance_coef", "aux_coef"),
    "codebook": ("commitment_cost", "commitment_weight", "commit_weight"),
}


@cause
@dataclass(frozen=True, slots=True)
class ObjectiveCollapse:
    """Weighs the ways in which outputs collapse that are properties of the objective."""

    id: ClassVar[str] = "objective_collapse"
    explains: ClassVar[tuple[str, ...]] = (
        "mode_collapse",
        "not_learning",
        "loss_divergence",
        "forgetting",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """The objective's own signs, and a config that makes collapse likely."""
        aimless = case.get("not_learning")
        if aimless is not None and aimless.number("random"):
            # The bonus for randomness outweighs the reward, if there is one.
            yield Clue(0.3 if aimless.number("rewardless") else 0.55, aimless.evidence[-1])
        for finding in case.all("forgetting"):
            if finding.number(BY_REWARD):
                yield case.because(finding, 0.25)
        for finding in case.all("loss_divergence"):
            if finding.details.get("kind") == "values":
                # Targets made of the same estimates rise with them, at any rate.
                yield case.because(finding, 0.7)
                yield Clue(0.25, finding.evidence[1])
        for finding in case.all("mode_collapse"):
            if finding.is_alarm:
                way = str(finding.details.get("way", ""))
                yield Clue(_WEIGHTS.get(way, 0.3), finding.evidence[0])
                for more in finding.evidence[1:2]:
                    yield Clue(0.2, more)
        if (setting := self._coefficient(case)) is not None and setting.number is not None:
            way, number = self._way(case), setting.number
            is_extreme = (way in ("policy", "routing") and number == 0) or (
                way == "latent" and number > 5
            )
            if is_extreme:
                yield Clue(0.6, setting.evidence)
        elif "objective" in case.view.facts.notes:
            yield Clue(0.1, case.view.facts.notes["objective"], "objective")
        if (lopsided := case.get("param_imbalance")) is not None and lopsided.is_alarm:
            yield Clue(-0.5, lopsided.evidence[0])
        if (rare := case.get("class_imbalance")) is not None and rare.is_alarm:
            yield Clue(-0.5, rare.evidence[0])

    def _way(self, case: Case) -> str:
        found = [f for f in case.all("mode_collapse") if f.is_alarm]
        ways = [str(f.details.get("way", "")) for f in found]
        if not ways and case.has("loss_divergence"):
            return "values"
        aimless = case.get("not_learning")
        if not ways and aimless is not None and aimless.number("random"):
            return "aimless"
        return max(ways, key=lambda way: _WEIGHTS.get(way, 0.0), default="")

    def _coefficient(self, case: Case) -> Setting | None:
        names = _COEFFICIENTS.get(self._way(case), ())
        return next((s for name in names if (s := case.setting(name)) is not None), None)

    def issue(self, case: Case) -> str:
        """One sentence for the kind of objective."""
        return {
            "adversarial": "one player of the adversarial game has won, and the generator no "
            "longer gets a signal that would spread it out",
            "policy": "the policy became certain before it knew enough; without entropy it no "
            "longer explores",
            "aimless": "the reward has no weight against the bonus for randomness (or the wrong "
            "sign), so the policy stays random",
            "values": "value estimates are trained on targets made of themselves, and grow without "
            "end",
            "latent": "the divergence term outweighs reconstruction, so the latent code is ignored",
            "representation": "the objective is met by mapping every input to the same vector",
            "routing": "the router prefers the experts that it has trained already, and nothing "
            "pays for using the others",
            "codebook": "codes that are not chosen are not trained, so fewer and fewer are chosen",
            "attention": "attention weights have become certain and pass on no gradient",
        }.get(
            self._way(case),
            "the objective is met by giving the same output whatever the input is",
        )

    def fixes(self, case: Case) -> Iterator[Fix]:
        """By the kind of objective, then a smaller step."""
        way = self._way(case)
        setting = self._coefficient(case)
        number = setting.number if setting is not None else None
        name = setting.path if setting is not None else ""
        if way == "policy":
            value = max(0.01, 10 * number) if number is not None else 0.01
            yield self._fix(
                f"{name} {shown(number)} -> {shown(value)}"
                if number is not None
                else "add an entropy bonus of 0.01 to the policy's loss",
                f"{name or 'entropy_coef'}: {shown(value)}",
                "entropy stays over 30 % of its start during the first half; reward then rises "
                "for at least that long",
                "normalise the advantages and clip the policy's gradients",
            )
        elif way == "aimless":
            value = number / 10 if number else 0.01
            yield self._fix(
                f"{name} {shown(number)} -> {shown(value)}"
                if number
                else "divide the weight of the entropy bonus by ten, and check the reward's sign",
                f"{name or 'entropy_coef'}: {shown(value)}",
                "entropy falls by at least 10 % within 200 updates and the reward rises",
                "print the advantage and the log-probability of ten actions: their product must "
                "be what the loss minimises with a minus sign",
            )
        elif way == "latent":
            value = min(1.0, number / 10) if number else 0.1
            yield self._fix(
                f"{name} {shown(number)} -> {shown(value)}"
                if number
                else "weigh the divergence with 0.1, rising to 1 over the first half",
                f"{name or 'beta'}: {shown(value)}",
                "the divergence rises over 1 nat and reconstruction falls by 10 % within 1,000 "
                "steps",
                "keep a floor under the divergence (free bits 0.5 per dimension)",
            )
            yield self._fix(
                "warm the divergence's weight up from 0 over the first 30 % of the steps",
                "beta = min(1.0, step / (0.3 * total_steps))",
                "the divergence stays over 1 nat after the warm-up",
                "make the decoder weaker, so that it needs the code",
            )
        elif way == "values":
            yield self._fix(
                "take the targets from a copy of the network that is renewed every 500 updates",
                "if step % 500 == 0: target.load_state_dict(q.state_dict())",
                "the estimates stay below the largest reward divided by (1 - gamma)",
                "clip the targets to that bound, and let a second network choose the action",
            )
        elif way == "routing":
            yield self._fix(
                f"{name} {shown(number)} -> {shown(max(0.01, 10 * number))}"
                if number is not None
                else "add a load-balancing loss with weight 0.01 to the objective",
                "loss = loss + 0.01 * experts * (share_of_tokens * mean_probability).sum()",
                "no expert gets less than half of an even share within 500 steps",
                "add noise to the router's logits, or a bias per expert that follows its load",
            )
        elif way == "codebook":
            yield self._fix(
                "renew codes that were not used for 100 batches with outputs of the encoder",
                "codebook.weight.data[dead] = z_e[torch.randint(len(z_e), (dead.sum(),))]",
                "the perplexity of the codes rises over a tenth of the codebook within 1,000 steps",
                "smaller codes (8 dimensions) of unit length, or moving averages instead of a loss",
            )
        elif way == "adversarial":
            yield self._fix(
                "halve the winning player's learning rate (two time-scale updates)",
                "opt_d = Adam(d.parameters(), lr=lr / 2); opt_g = Adam(g.parameters(), lr=lr)",
                "the discriminator's accuracy comes back to 0.6-0.9 within 500 steps",
                "update the slower player twice as often",
            )
            yield self._fix(
                "regularise the discriminator: R1 penalty of 10 or spectral norm",
                "layer = torch.nn.utils.spectral_norm(layer)",
                "the generator's gradients stay over a tenth of their start; samples spread again",
                "add noise to the discriminator's inputs",
            )
        else:
            yield self._fix(
                "overfit 16 balanced examples: the outputs must differ between them",
                "loader = [next(iter(loader))] * 500",
                "train loss under 5 % of its start within 500 steps; all classes predicted",
                "the model cannot tell inputs apart: look at the input pipeline and the output "
                "layer",
                is_quick=True,
            )
            yield self._fix(
                "add a term that rewards variety, or stop the gradient on one branch",
                "loss = loss + 0.1 * torch.relu(1 - z.std(0)).mean()",
                "the spread of the outputs grows back over a tenth of its start in 500 steps",
                "lower the temperature of a contrastive loss",
            )
        yield lower_learning_rate(case, self.id, metric="variety of the outputs")

    def _fix(
        self, change: str, example: str, impact: str, next_step: str, *, is_quick: bool = False
    ) -> Fix:
        return Fix(
            addresses=self.id,
            change=change,
            example=example,
            expected_impact=impact,
            verify="log the variety (entropy, modes, spread, most common output) every 50 steps",
            if_it_fails=next_step,
            is_quick=is_quick,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What shows the collapse directly."""
        yield (
            "the share of the most common prediction or token per evaluation: separates a "
            "collapsed model from one that is only slow"
        )
        if self._way(case) in ("samples", "predictions", ""):
            yield "counts of the training labels: separates collapse from rare classes"
