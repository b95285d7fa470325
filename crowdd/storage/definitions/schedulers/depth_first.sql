-- depth_first: one task after the other, each until it has its answers.
--
-- How to write a scheduler. A scheduler is a file of this folder; its name is what project.info.sched says. It has two
-- functions, and nothing else has to be changed anywhere: the next upgrade of the database knows it.
--
-- <name>_mode() says when a task has a place to give:
--   limited         while counted answers + leases are fewer than n_answers
--   by_level        the same, and the task also stands on a level: the number of its answers and leases
--   one_at_a_time   the same, and nobody else has it
--   unlimited       always: everybody may answer everything, n_answers of the answers count
--
-- <name>_scan(p, p_order, p_scan) says where to look for the next task of a volunteer. It is called with p_scan null first
-- and returns the name of a scan. While that scan has not given enough, it is called again with that name and returns the
-- one after it; null is the end. p is the project, p_order the order that was asked for (priority unless it was another).
-- The scans (../tasks/32_candidate_scan.sql reads them; none costs more in a large project than in a small one, but for sort):
--   returns:<order>     tasks behind the volunteer in that order that have a place again
--   <order>             priority, priority-up, id, id-down, or sort/<attribute>/<asc or desc>: all others in that order
--   level/<n>           tasks on level n, which came there first comes first (mode by_level)
--   first/<n>/<order>   the eight tasks of level n that come first in an order (mode by_level)
--   random              chance; thirty draws, so let another scan follow
-- scans_of(p_order, p_scan) returns the first two, one after the other: let a scheduler end with them, or with scans that
-- together hold every open task, or volunteers are told that there is nothing left while there is.
--
-- Not your concern: whether a place is free (looked at under the lock), who has answered what, what a volunteer holds
-- already (that comes first), limit and offset, tasks that he skipped (these come last), lapsed leases.
--
-- A change of the mode is made task by task; a project of any size changes its scheduler while people work.
-- Try it: a line for it in tests/ledger/test_schedulers.py, where every scheduler has to keep the same promises.

CREATE FUNCTION depth_first_mode() RETURNS assignment_mode IMMUTABLE LANGUAGE sql AS $$ SELECT 'limited'::assignment_mode $$;

CREATE FUNCTION depth_first_scan(p project_ledger, p_order text, p_scan text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT scans_of(p_order, p_scan) $$;
