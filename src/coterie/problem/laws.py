"""The laws of rewards a study may name as the `kind` of its problem."""

from coterie.problem.bernoulli import Bernoulli
from coterie.problem.bounded import Bounded
from coterie.problem.gaussian import Gaussian
from coterie.problem.linear import Law
from coterie.problem.logged import FromLog

LAWS: dict[str, type[Law]] = {"bernoulli": Bernoulli, "bounded": Bounded, "gaussian": Gaussian, "logged": FromLog}
