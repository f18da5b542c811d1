"""Rules that read any call, simulated or recorded, and say what went wrong in it.

    for finding in judge(Case.of_result(result)):
        print(finding)

A rule is a small module in simrt.checks.rules; see simrt.checks.base for what a finding means and whom it blames.
"""

from simrt.checks.base import Finding, Flagged, Limits, Rule, all_rules, chosen, find_rule, found, judge, rule
from simrt.checks.case import Case

__all__ = ["Case", "Finding", "Flagged", "Limits", "Rule", "all_rules", "chosen", "find_rule", "found", "judge", "rule"]
