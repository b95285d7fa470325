-- expands: moves of projects between databases that are under way (docs/decisions/0235-move-a-paused-project-behind-triggers.md)
CREATE TABLE project_move (
    project_id bigint PRIMARY KEY,
    source int NOT NULL,
    target int NOT NULL,
    switched boolean NOT NULL DEFAULT false,    -- the project lives at the target, and rows of it are left at the source
    began timestamptz NOT NULL
);

-- Refuses changes of a project that is being moved, to every session but the one that moves it.
CREATE FUNCTION refuse_while_moving() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The project is being moved to another database.' USING ERRCODE = 'lock_not_available';
END $$;
