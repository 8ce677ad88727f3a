"""The words of all pages, each in a sentence for someone who never met it."""

GLOSSARY = {
    "Regret": "What is lost by not playing the best arm every time: reward that the best arm would have brought on "
    "average, and the arm that was played did not. 0 is perfect.",
    "Decision": "One play of one agent in one round. Regret is told for so many decisions, whatever the length of a study.",
    "Run": "One simulation of a row from the first round to the last, with chances of its own.",
    "Interval": "95 % of intervals made like this contain the mean that ever more runs would come to. “Too close to "
    "call”: the interval of the difference contains 0.",
    "ε": "Epsilon, the measure of privacy: whatever is seen, it shifts the odds of any guess about one reward by a "
    "factor of at most e to the power of ε. 0 hides everything, 1 is strong, above 3 is weak.",
    "Promised": "The ε that a method states. What it really gives may be weaker.",
    "Holds": "The ε that adding up all that was sent shows, over the whole run. “No limit”: no number holds, because "
    "something is told without noise.",
    "Kept": "What holds is no more than what was promised. Kept, but weak: with an ε above 3. Broken: more is lost "
    "than promised.",
    "Nothing promised": "Nobody has said that anything is hidden. That is no fault, and no protection.",
    "Best guess": "How often somebody who sees everything can at best say which of two equally likely values a reward had. "
    "A blind guess is right in 50 %.",
    "Sends nothing": "Who learns alone sends no message, so that no message can tell anything. Its choices may still be seen.",
}
AUDITING = {
    "Proven": "Trials have shown that at least so much leaks. It is a lower bound, wrong in at most 1 of 100 audits; "
    "the truth may be anything above it.",
    "Lived twice": "Everyone lives twice by the same dice and noise, and in the second life one reward is another. Whatever "
    "differs and was not paid for is a leak.",
    "Witness": "The reward, and the sign in what is seen, that tell the two sides apart best.",
}
