"""What is being learned. A kind of problem is a module with five compiled functions on a `world`, one record per agent:

draw(world, plan, die)              fill plan.total: for each entry the sum of its rewards on the integer grid
lay_out(world, plan)                fill plan.lap, so that regret inside the plan can be read off
regret(world, plan)                 of the whole plan
regret_until(world, plan, slots)    of its first `slots` rounds
violates(world, plan)               1 if the plan breaks a constraint of the problem
"""
