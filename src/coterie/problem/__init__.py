"""What is being learned. A kind of problem is a module of functions on a `world`, one record per agent. Five are compiled:

draw(world, secret, plan, harvest, die)     fill harvest.total: for each entry the sum of its rewards on the integer grid;
                                            secret.count tells how many rewards of an arm there were before
lay_out(world, plan, harvest)               fill harvest.lap, so that regret inside the plan can be read off
regret(world, plan)                         of the whole plan
regret_until(world, plan, harvest, slots)   of its first `slots` rounds
violates(world, plan)                       1 if the plan breaks a constraint of the problem

reach(worlds, arms) says how far one reward can move a sum: one number, or [agent, arm] where arms differ.
"""
