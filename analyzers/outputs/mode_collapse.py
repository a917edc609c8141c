"""mode_collapse: the model's outputs have lost their variety.

What it sees: generated samples in the log that repeat one token; a logged share of the most
    common prediction or expert over 0.9, or distinct-n under 0.2; loads of experts of which three
    quarters get nothing; a codebook with hardly a code in use; outputs that are all blank; a
    discriminator that wins while the generator's loss rises, or the other way round, a generator
    that reaches few modes; a policy whose entropy falls below a tenth before it has learned; a
    latent code with no divergence; embeddings that lose their spread, their rank or the distance
    between unlike examples; attention without entropy. Only what still holds at the end counts:
    an untrained model stammers, too.
Why it matters: the loss may look fine, yet nothing that such a model produces can be used.
Fires on:
    train/loss: 4>2~0.05*200 ; log: sample: the king of | sample: ::::::::: | sample: :::::::::::
    train/loss: 2>1~0.05*200 ; pred_top_class_share: 0.3>0.95*20 0.97*20
    d_loss: 1.2>0.01*100 0.01*100 ; g_loss: 0.8>6*100 6>9*100
    entropy: 1.1>0.02*20 0.01*180 ; reward: 3~1*200
    loss_d: 0.03 0.01*59 ; loss_g: 3.9>17*60
    d_loss: 0.5 0.35 0.327~0.001*60 ; g_loss: 2>11~0.2*62
    D(x): 0.98~0.003*60 ; D(G(z)): 0.02~0.003*60 ; d_loss: 0.1~0.02*60 ; g_loss: 9~0.5*60
    d_loss: 1.39~0.03*60 ; g_loss: 0.8~0.03*60 ; modes: 0 0 1 2 1 1 0 2 0 1
    entropy: 1.4 0.9 0.4 0.1 0*60 ; reward: -0.6*64
    z_std: 0.43>0.06*20 0.05~0.004*60 ; train/loss: 0.3>0.01*20 0.004*60
    z_std: 0.06>0.004*20 0.004*60 ; train/loss: 0.02>0.0001*80
    expert_max_share: 0.3 0.8 1*48 ; train/loss: 2.4>0.07~0.01*50
    router_entropy: 1.4 0.4 0.01*48 ; train/loss: 2.4>0.07~0.01*50
    load0: 0*40 ; load1: 1*40 ; load2: 0*40 ; load3: 0*40 ; train/loss: 2.4>0.07~0.01*40
    expert0_pct: 2*40 ; expert1_pct: 0*40 ; expert2_pct: 98*40 ; train/loss: 2.4>0.07~0.01*40
    pred_frac_0: 0*12 ; pred_frac_1: 1*12 ; pred_frac_2: 0*12 ; train/loss: 1.1>1~0.01*60
    uniformity: -1.5 -0.5 -0.1 0*40 ; train/loss: 4>3.9*43
    experts_used: 8 4 1*40 ; train/loss: 2.4>0.07~0.01*42
    load_cv: 0.8>2.6*10 2.6*40 ; train/loss: 2.4>0.07~0.01*50
    d_ap: 2.1>0.001*8 0.0001*8 ; d_an: 0.97>0.001*8 0.0001*8 ; train/loss: 1.7>0.5*8 0.5*8
    neg_sim: 0.1>0.99*20 0.99*20 ; train/loss: 0.9>0.01*40
    effective_rank: 60>1.1*20 1.1*20 ; train/loss: 5>1.5*40
    perplexity: 40>1*20 1*30 ; vq_loss: 0.05>0.01*50 ; recon_loss: 0.2>0.1*50
    codebook_usage: 0.3>0.003*20 0.002*30 ; recon_loss: 0.2>0.1*50
    blank_ratio: 0.3>0.999*10 0.999*30 ; cer: 1*40 ; train/loss: 12>2.9*40
    wer: 1*40 ; train/loss: 8>2.9*8 2.9~0.003*32
    pred_std: 0.6>0.0001*20 0.0001*60 ; train/loss: 1.6>1*20 1~0.02*60
    n_unique_preds: 10 6 3 1*30 ; train/loss: 2.4>2.3~0.003*33
    emb_var: 1>0.0001*20 0.0001*60 ; train/loss: 1.9>0.01*80
    attn_entropy: 4>0.01*20 0.005*40 ; train/loss: 6>5.4*60
    loss_D: 1.3>5.5*40 5.5~0.2*20 ; loss_G: 0.8>0.02*40 0.01*20
    Loss_D: 1.1>0.05*20 0.3~0.1*60 ; Loss_G: 0.8>14*20 15~1*60
    G_GAN: 3.6>14*90 ; G_L1: 1.4>1.2*90 ; D_real: 0.02 0.001*89 ; D_fake: 0.04 0.001*89
    BCE: 180>140*40 ; KLD: 3>0.001*20 0.001*20
    ent: 1.1>0.01*20 0.01*100 ; avg_reward: -20~1*120
Stays quiet:
    load0: 0.2*40 ; load1: 0.4*40 ; load2: 0.3*40 ; load3: 0.1*40 ; train/loss: 2.4>0.07~0.01*40
    load1: 7.9*40 ; load5: 0.1*40 ; load15: 0.1*40 ; train/loss: 2.4>0.07~0.01*40
    gpu0_load: 99*40 ; gpu1_load: 0*40 ; gpu2_load: 0*40 ; train/loss: 2.4>0.07~0.01*40
    wer: 1*40 ; train/loss: 8>2~0.01*40
    pred_frac_0: 0.97*12 ; pred_frac_1: 0.02*12 ; pred_frac_2: 0.01*12 ; train/loss: 1>0.1*60
    expert_dropout: 0.1*60 ; top_share: 0.95*60 ; train/loss: 1>0.1*60
    repeat: 1*60 ; train/loss: 1>0.1*60
    gate0: 0.5>0.02*40 ; gate1: 0.5>0.98*40 ; train/loss: 1>0.3*40
    elbo: -290>-130*40 ; rec: 280>110*40 ; kl: 4>12*40
    d_ap: 2.1>0.001*8 0.0001*8 ; d_an: 0.9>1.2*16 ; train/loss: 0.9>0.05*16
    d_ap: 2.1>0.002*8 0.001*8 ; d_an: 3>0.03*8 0.03*8 ; train/loss: 0.9>0.001*16
    perplexity: 40>1.1*20 1.05*30 ; train/loss: 3.7>0.05*50
    perplexity: 40>300*50 ; vq_loss: 0.05>0.01*50 ; recon_loss: 0.2>0.02*50
    blank_ratio: 0.3>0.99*10 0.99*30 ; cer: 1>0.1*40 ; train/loss: 12>0.3*40
    attn_entropy: 4>1.5*60 ; train/loss: 6>3.1*60
    loss_D: 0.6~0.05*60 ; loss_G: 28>12~0.5*60
    action_std: 1>0.05*60 ; reward: 3>12~1*60
    z_std: 1>0.05*80 ; kl: 0>12*80 ; train/loss: 90>40*80
    train/loss: 4>2~0.05*200 ; log: sample: eeeeeeeeeee | sample: the king of heaven and earth
    train/loss: 2>1~0.05*200 ; pred_top_class_share: 0.95*10 0.9>0.2*30
    G_GAN: 1.5~0.4*90 ; G_L1: 20>8*90 ; D_real: 0.4~0.2*90 ; D_fake: 0.45~0.2*90
    d_loss: 1.38~0.05*200 ; g_loss: 0.69~0.05*200
    d_loss: 1.3>0.9~0.05*60 ; g_loss: 0.8>2.5~0.2*60 ; modes: 0 1 3 5 7 8 8 8 8 8
    z_std: 0.43>0.07*20 0.065~0.004*60 ; train/loss: 0.3>0.1*80
    entropy: 1.1>0.05*200 ; reward: 3>12~1*200
Try next: sample at temperature 1 from two checkpoints; look at the share of each prediction;
    see whether one part of the model holds most parameters; overfit 16 balanced examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from ..core.calibration import finding_confidence
from ..core.finding import Finding
from ..core.registry import analyzer
from ..core.view import RunView
from .logged_signs import logged_signs
from .objective_signs import objective_signs
from .sampled_signs import sampled_signs


@analyzer
@dataclass(frozen=True, slots=True)
class ModeCollapse:
    """Report each way in which the outputs show it, once."""

    id: ClassVar[str] = "mode_collapse"
    roles: ClassVar[tuple[str, ...]] = ("entropy", "reward", "kl")
    events: ClassVar[tuple[str, ...]] = ("sample",)

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at samples, then at logged varieties, then at the objective."""
        for sign in chain(sampled_signs(view), logged_signs(view), objective_signs(view)):
            yield Finding(
                id=self.id,
                title=sign.title,
                severity=sign.severity,
                confidence=finding_confidence(sign.basis, min(sign.raw, sign.basis.ceiling)),
                basis=sign.basis,
                evidence=sign.evidence,
                first_step=sign.first_step,
                details={"way": sign.way, **sign.details},
            )
