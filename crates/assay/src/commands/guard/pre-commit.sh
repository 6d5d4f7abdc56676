#!/bin/sh
# Installed by `assay guard init`: nothing gets weaker without somebody's decision.
# Exit 1 of the guard means weakened, 2 that somebody should look; both stop the commit.
exec assay guard --base HEAD --head worktree
