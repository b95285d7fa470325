-- depth_first: hands out tasks one after the other, each until it has its answers.
--
-- How to write a scheduler. A scheduler is a file in this folder. Its name is the value of project.info.sched. It has two
-- functions, and nothing else has to be changed: the next upgrade of the database knows it.
--
-- <name>_mode() says when a task has a place for another volunteer:
--   limited         while counted answers + leases are fewer than n_answers
--   by_level        the same, and the task is also on a level: the number of its answers and leases
--   one_at_a_time   the same, and nobody else holds it
--   unlimited       always: everybody can answer every task, and n_answers of the answers count
--
-- <name>_scan(p, p_order, p_scan) says where to look for the next task of a volunteer. The first call has p_scan null and
-- returns the name of a scan. While that scan has not found enough, the function is called again with its name and returns
-- the next scan; null is the end. p is the project, p_order the requested order (priority by default).
-- The scans (../tasks/32_candidate_scan.sql; except for sort, none costs more in a large project than in a small one):
--   returns:<order>     tasks before the volunteer's position in that order that have a place again
--   <order>             priority, priority-up, id, id-down, or sort/<attribute>/<asc or desc>: all others in that order
--   level/<n>           tasks on level n, in the order in which they got there (mode by_level)
--   first/<n>/<order>   the first eight tasks of level n in an order (mode by_level)
--   random              thirty random draws, so another scan should follow
--   started             of thirty neighbours at a random place, tasks that have answers or leases before others
-- scans_of(p_order, p_scan) returns the first two, one after the other. A scheduler should end with them, or with scans that
-- together contain every open task. Otherwise volunteers are told that nothing is left although there is.
--
-- Other code takes care of these: whether a place is free (checked under the lock), who has answered what, tasks that a
-- volunteer already holds (these come first), limit and offset, tasks that they skipped (these come last), expired leases.
--
-- The mode changes task by task; a project of any size can change its scheduler while people work.
-- To test it, add a line to tests/ledger/test_schedulers.py, where every scheduler has to keep the same promises.

CREATE FUNCTION depth_first_mode() RETURNS assignment_mode IMMUTABLE LANGUAGE sql AS $$ SELECT 'limited'::assignment_mode $$;

CREATE FUNCTION depth_first_scan(p project_ledger, p_order text, p_scan text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT scans_of(p_order, p_scan) $$;
