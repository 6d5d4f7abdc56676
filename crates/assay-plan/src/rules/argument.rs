//! Rules about surfaces, arms, adequacy and confidence.

super::rules! {
    SURFACES_MISSING 64 Error "a claim about boundaries or fairness is not decomposed"
        what "A scenario against such a claim has a 7.M.S block with eight fields."
        why "Such claims hold on one surface and fail on the next: the API denies, the export \
        leaks."
        fix "Add the block."
        example "#### 7.M.S Surface decomposition\n- **Surfaces:** API, export job, admin console"
    SURFACE_FIELD 65 Error "the surface decomposition is not complete"
        what "Surfaces, operations, adversarial inputs, positive and negative controls, delayed \
        paths, observability paths and arms are all answered."
        why "Without negative controls a test that only shows that access works passes."
        fix "Add the line; if there is nothing, say so and why."
        example "- **Negative controls:** tenant B reads A's key: denied, and no trace of it in \
        B's metrics"
    ARMS_MISSING 66 Error "a scenario must be split into arms"
        what "More than three surfaces, more than three categories of claims or more than one \
        independent oracle need arms: one per surface, each with its own 7.M, oracle and verdict."
        why "One verdict over five surfaces hides the four that were not tested."
        fix "Name the arms and give each a heading `#### Arm S5/api: name`."
        example "- **Scenario arms:** S5/api, S5/sdk, S5/export, S5/admin"
    SINGLE_SURFACE 67 Error "the name speaks of a boundary, but there is one surface or none"
        what "A name with shard, tenant, region, namespace, routing and the like needs a 7.M.S \
        block with at least two surfaces."
        why "A boundary has two sides and many doors."
        fix "List the surfaces, or rename the scenario."
        example "- **Surfaces:** query API, change feed, backup"
    FEW_SURFACES 68 Error "fewer than three surfaces, and no reason why"
        what "A claim about boundaries is tested on at least three surfaces, or it says why fewer \
        are all there is."
        why "The surface that is forgotten is the one that leaks."
        fix "Add surfaces, or `because …`."
        example "- **Surfaces:** API, SDK (only these two, because there are no background jobs \
        yet)"
    FAIRNESS_ORACLE 69 Error "the oracle of a fairness claim is not a formula per group"
        what "The oracle compares groups: worst group's p99 with the whole, smallest throughput, \
        errors by group, or spread over repetitions; or the checker `fairness` does."
        why "A mean over all groups hides the one that starves."
        fix "Use the checker `fairness`, or a per-group formula with a limit."
        example "- **Oracle:** worst_group_p99 / aggregate_p99 <= 3"
    SEVERAL_SURFACES 70 Error "the name speaks of all surfaces, but there is one test"
        what "`across_all_surfaces` and the like need arms."
        why "One test file exercises one surface."
        fix "Split it into arms."
        example "#### Arm S5/export: denied_in_exports"
    ARM_INCOMPLETE 71 Error "an arm lacks its own oracle or is not known"
        what "Each arm that is listed has a heading `#### Arm ID: name`, and an oracle of its \
        own, as a line or a checker in its block."
        why "An arm without an oracle has no verdict."
        fix "Add the heading, the oracle, or both."
        example "#### Arm S5/api: denied_over_the_api\n- **Oracle:** 0 rows of other tenants in \
        any answer"
    ADEQUACY_ROW 72 Error "a claim is not in the adequacy argument"
        what "Section 7b has a row for every claim."
        why "The plan must argue that its scenarios are enough, claim by claim."
        fix "Add the row: threats with letters, the scenarios against each, why that suffices."
        example "| C1 | (a) stale read from a deposed leader | S1 (a) | three seeds, every \
        election observed |"
    THREAT_OPEN 73 Error "a threat meets no scenario and is not admitted"
        what "Each lettered threat is cited by a scenario in its row, or stands in 7c with its \
        claim and letter."
        why "A threat that is named and then forgotten is worse than one nobody saw."
        fix "Cite the letter next to the scenario, or add a row to 7c."
        example "| C1 (b): clock skew beyond 1 s | no time control here | leases are 10 s | when \
        leases get shorter |"
    ABSOLUTE 74 Warning "the confidence statement promises too much"
        what "Words such as cannot, never, impossible or guaranteed do not belong in 7d."
        why "Tests show what was not observed under the tested threats; they do not show what \
        cannot happen."
        fix "Say `was not observed under …`."
        example "No lost acknowledgement was observed in three seeds of leader isolation."
    SENTENCES 75 Warning "the confidence statement is too short or too long"
        what "It has four to eight sentences: what holds under which threats, what stays open, \
        whether scenarios share a blind spot, that the harness has gone red before, what not to \
        conclude."
        why "Shorter ones leave something out, longer ones are not read."
        fix "Add what is missing, or cut."
        example "If all scenarios pass, … Not tested: … The checker was shown to fail on … Do not \
        conclude that …"
    ASPECTS 76 Error "confidence is not given aspect by aspect"
        what "For claims about boundaries and fairness with arms, 7d has a table Claim, Aspect, \
        Confidence (high, moderate, low), Reason."
        why "High confidence in the API says nothing about the export."
        fix "Add the table, with a row for each claim; if all are high, one line may say so."
        example "| C5 | export | low | S5/export is not run before release 2 |"
    UNTESTED_SURFACES 77 Warning "the confidence statement does not name the surfaces that stay \
    untested"
        what "With claims about boundaries or fairness, 7d says which surfaces are expected \
        NOT-RUN or PARTIAL-surface, or that all are run."
        why "Whoever reads only 7d must not believe that everything was covered."
        fix "Name them."
        example "The admin console (S5/admin) is NOT-RUN in this round."
    ASPIRATION 78 Warning "a scenario is a wish"
        what "Scenarios that are for later stand in section 9."
        why "Section 7 is what is run; a wish in it is a hole in the argument."
        fix "Move it to section 9 with an owner and a date."
        example "- Power loss of two nodes at once — owner: storage, by: Q3"
}
