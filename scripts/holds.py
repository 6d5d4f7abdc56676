#!/usr/bin/env python3
"""Whether scenarios of a run have passed.

    assay run PLAN --format json … > result.json
    scripts/holds.py result.json S1 S2

The exit code of a run is about all of a plan: one that leaves the planted defects out is never
DONE, and its code is that of a run which could not decide anything. Here each named scenario has to
be a PASS, and nothing may be refuted. Says the verdict of each.

Exit 0: all of them have passed. 1: not so. 64: it was called wrongly, or there is no result.
"""

import json
import sys

USAGE = 64


def complaints(result, names):
    """Why it does not hold; says each verdict."""
    found = {scenario["id"]: scenario for scenario in result["scenarios"]}
    for name in names:
        if name not in found:
            yield f"{name} did not run"
            continue
        verdict = found[name]["verdict"]
        print(f"{name} {verdict}: {found[name]['sentence'].removeprefix(f'{verdict}: ')}")
        if not verdict.startswith("PASS-"):
            yield f"{name} is {verdict}, not a PASS"
    for finding in result["findings"]:
        yield f"a claim was refuted: {json.dumps(finding)[:300]}"


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return USAGE
    path, *names = arguments
    try:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        wrong = list(complaints(result, names))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{path} is no result of `assay run --format json`: {error!r}", file=sys.stderr)
        return USAGE
    for what in wrong:
        print(f"holds: {what}; run it again on a machine that does nothing else, or read "
              f"{result['report']}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
