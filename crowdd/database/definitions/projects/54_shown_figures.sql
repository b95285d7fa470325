-- Figures of projects as everybody is told, owners too: the one place that decides what gold tasks have to do with them.
--
-- Without gold tasks they are exact. An answer to a gold task does not count and completes nothing, so exact figures would tell after each answer
-- whether its task was gold. While a project has some, its gold tasks are tasks like others, and counted answers and completed tasks are
-- worked out from the number of all its answers: how far the project would be if all had come to tasks that wanted them. No figure then depends
-- on which tasks the answers were given to, but for the end: a project is finished exactly when each task that is not gold is.
--
-- With adaptive redundancy each answer that is not enough changes how many answers are wanted, so a whole number of answers for each task is
-- taken instead.

CREATE FUNCTION shown_figures(p_tasks bigint, p_completed bigint, p_wanted bigint, p_counted bigint, p_runs bigint, p_gold int, p_adaptive boolean)
RETURNS TABLE (n_tasks bigint, n_completed_tasks bigint, n_wanted bigint, n_counted bigint, overall_progress int) IMMUTABLE LANGUAGE sql AS $$
SELECT f.tasks, CASE WHEN p_gold = 0 THEN p_completed WHEN f.finished THEN f.tasks ELSE least(p_runs * f.tasks / f.wanted, f.tasks - 1) END,
       CASE WHEN p_gold = 0 THEN p_wanted ELSE f.wanted END,
       CASE WHEN p_gold = 0 THEN p_counted WHEN f.finished THEN f.wanted ELSE least(p_runs, f.wanted - 1) END,
       CASE WHEN p_wanted <= 0 THEN 0
            WHEN p_gold > 0 THEN CASE WHEN f.finished THEN 100 ELSE least(p_runs * 100 / f.wanted, 99) END
            WHEN p_adaptive THEN p_completed * 100 / greatest(p_tasks, 1)
            ELSE least(p_counted * 100 / p_wanted, CASE WHEN p_completed >= p_tasks THEN 100 ELSE 99 END) END::int
  FROM (SELECT p_tasks + p_gold AS tasks, p_tasks > 0 AND p_completed >= p_tasks AS finished,
               greatest(1, CASE WHEN p_adaptive THEN round(p_wanted::numeric / nullif(p_tasks, 0)) * (p_tasks + p_gold)
                                ELSE p_wanted * (p_tasks + p_gold) / nullif(p_tasks, 0) END)::bigint AS wanted) f $$;

-- Costs what project_figures costs. n_unfinished is exact, and for conditions only.
CREATE VIEW public_figures AS
SELECT f.project_id, s.n_tasks, s.n_completed_tasks, s.n_wanted, s.n_counted, s.overall_progress, f.n_results, f.seconds,
       f.runs_anonymous, f.runs_authenticated, f.people_anonymous, f.people_authenticated, f.n_tasks - f.n_completed_tasks AS n_unfinished
  FROM project_figures f JOIN project p ON p.id = f.project_id
 CROSS JOIN LATERAL shown_figures(f.n_tasks, f.n_completed_tasks, f.n_wanted, f.n_counted, f.runs_anonymous + f.runs_authenticated, f.n_gold,
                                  p.trust IS NOT NULL AND p.answer_label IS NOT NULL) s;

-- hours_of as everybody is told.
CREATE FUNCTION shown_hours(p_project bigint, p_since date) RETURNS TABLE (
    hour timestamptz, runs_anonymous bigint, runs_authenticated bigint, counted bigint, completed bigint) STABLE LANGUAGE sql AS $$
SELECT h.hour, h.runs_anonymous, h.runs_authenticated, CASE WHEN l.n_gold = 0 THEN h.counted ELSE h.runs_anonymous + h.runs_authenticated END,
       CASE WHEN l.n_gold = 0 THEN h.completed
            ELSE f.n_completed_tasks * (h.runs_anonymous + h.runs_authenticated) / greatest(f.runs_anonymous + f.runs_authenticated, 1) END
  FROM project_ledger l CROSS JOIN hours_of(p_project, p_since) h
  LEFT JOIN LATERAL (SELECT * FROM public_figures x WHERE l.n_gold > 0 AND x.project_id = p_project) f ON true
 WHERE l.project_id = p_project $$;
