-- Limits per network: how many answers to a task count, which leases others can take over, and whom an owner bars.

-- The rule of the site ([volunteers] counted_per_network), written when a server starts. One row.
CREATE TABLE volunteer_rule (
    counted_per_network int NOT NULL,                   -- 0: no limit
    single boolean PRIMARY KEY DEFAULT true CHECK (single)
);
INSERT INTO volunteer_rule VALUES (1);

ALTER TABLE project_ledger
    ADD COLUMN counted_per_network int NOT NULL DEFAULT 1,          -- what holds here: the project's own value or the site's
    ADD COLUMN has_bars boolean NOT NULL DEFAULT false;             -- whether barred_volunteer has rows of the project

-- network: pseudonym of the network that asked, of everybody; '' where it is not known. soft: 0 firm; others may take a lease
-- over when it is 1 (beyond the firm ones of its network), 2 (beyond those of its volunteer) or 3 (given again to somebody who
-- had it for six lease times). Older leases only go, so a lease only becomes firmer.
ALTER TABLE lease
    ADD COLUMN network text NOT NULL DEFAULT '',
    ADD COLUMN soft smallint NOT NULL DEFAULT 0;
UPDATE lease l SET network = CASE WHEN actor LIKE 'i:%' THEN substr(actor, 3) ELSE coalesce((
           SELECT user_ip FROM task_run r WHERE r.actor = l.actor AND r.actor LIKE 'c:%' ORDER BY id DESC LIMIT 1), '') END
 WHERE actor LIKE 'i:%' OR actor LIKE 'c:%';
UPDATE lease l SET soft = CASE WHEN n.own > 2 THEN 2 ELSE 1 END
  FROM (SELECT id, row_number() OVER (PARTITION BY project_id, actor ORDER BY id) AS own,
               CASE WHEN network <> '' THEN row_number() OVER (PARTITION BY project_id, network ORDER BY id) ELSE 0 END AS shared FROM lease) n
 WHERE n.id = l.id AND (n.own > 2 OR n.shared > 20);

-- Expressions in place of columns, so that only the statements which mean these indexes can use them: to the planner a table
-- of leases that was just vacuumed is empty, and then every index that begins with project_id looks as good as the key.
CREATE INDEX lease_network ON lease (network, (project_id + 0), (-task_id));
CREATE INDEX lease_soft ON lease ((project_id + 0), soft, id) WHERE soft > 0;

-- user_ip is the network of an anonymous answer. aside: the bar by which an owner set the answer aside.
ALTER TABLE task_run ADD COLUMN aside bigint;
CREATE INDEX task_run_network ON task_run (user_ip, (project_id + 0), (-task_id), counted) WHERE user_ip IS NOT NULL;
CREATE INDEX task_run_aside ON task_run (aside, task_id) WHERE aside IS NOT NULL;

-- Who may not answer in a project. subject: a volunteer ('u:7', 'c:…', 'i:…', 'x:…'), or 'n:…': all anonymous volunteers of a
-- network. shown: how owners know an anonymous one: the pseudonym of the network.
CREATE TABLE barred_volunteer (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    subject text NOT NULL,
    shown text,
    at timestamptz NOT NULL,
    user_id bigint,                                     -- who did it
    reason text NOT NULL DEFAULT '',
    UNIQUE (project_id, subject)
);

-- Rows that nobody has used for long are swept.
ALTER TABLE position ADD COLUMN used timestamptz NOT NULL DEFAULT now();
