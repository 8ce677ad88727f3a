"""The laws of rewards a study may name as the `kind` of its problem."""

from coterie.problem.bernoulli import Bernoulli
from coterie.problem.gaussian import Gaussian
from coterie.problem.linear import Law

LAWS: dict[str, type[Law]] = {"bernoulli": Bernoulli, "gaussian": Gaussian}
