-- expands: a name that looks like a taken one is taken

-- How a name looks (skeleton of Unicode Technical Standard 39, in small letters): without what is invisible, and with one character for all
-- that look like it. Names that are stored are compared by it, so a migration that changes this function has to set all skeletons anew.
CREATE FUNCTION skeleton(p_name text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE LANGUAGE plpgsql AS $$
DECLARE
    looks constant jsonb := public.confusables();
    invisible constant text := '[\u0001-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E'
        || '\u2060-\u206F\u2800\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFC\U0001BCA0-\U0001BCA3\U0001D159\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]';
BEGIN
    RETURN (
        SELECT btrim(regexp_replace(normalize(coalesce(string_agg(coalesce(looks->>c, c), '' ORDER BY n), ''), NFKD), ' {2,}', ' ', 'g'), ' ')
          FROM regexp_split_to_table(normalize(regexp_replace(p_name, invisible, '', 'g'), NFKD), '') WITH ORDINALITY x (c, n)
    );
END $$;

-- A skeleton that is given stays: '' is that of a name that is like an earlier one, and is compared with no other.
CREATE FUNCTION names_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.name_skeleton IS NULL OR (TG_OP = 'UPDATE' AND NEW.name <> OLD.name) THEN
        NEW.name_skeleton := public.skeleton(NEW.name);
    END IF;
    IF TG_TABLE_NAME <> 'account' THEN
        IF NEW.short_name_skeleton IS NULL OR (TG_OP = 'UPDATE' AND NEW.short_name <> OLD.short_name) THEN
            NEW.short_name_skeleton := public.skeleton(NEW.short_name);
        END IF;
    END IF;
    RETURN NEW;
END $$;

ALTER TABLE account ADD COLUMN name_skeleton text;
ALTER TABLE project ADD COLUMN name_skeleton text, ADD COLUMN short_name_skeleton text;
ALTER TABLE category ADD COLUMN name_skeleton text, ADD COLUMN short_name_skeleton text;

-- Of names that look alike already, all but the first are not compared.
UPDATE account a SET name_skeleton = CASE WHEN n = 1 THEN look ELSE '' END
  FROM (SELECT id, look, row_number() OVER (PARTITION BY look ORDER BY id) AS n FROM (SELECT id, skeleton(name) AS look FROM account) x) s WHERE s.id = a.id;
UPDATE project p SET name_skeleton = CASE WHEN n = 1 THEN look ELSE '' END, short_name_skeleton = CASE WHEN short_n = 1 THEN short_look ELSE '' END
  FROM (SELECT id, look, short_look, row_number() OVER (PARTITION BY look ORDER BY id) AS n, row_number() OVER (PARTITION BY short_look ORDER BY id) AS short_n
          FROM (SELECT id, skeleton(name) AS look, skeleton(short_name) AS short_look FROM project) x) s WHERE s.id = p.id;
UPDATE category c SET name_skeleton = CASE WHEN n = 1 THEN look ELSE '' END, short_name_skeleton = CASE WHEN short_n = 1 THEN short_look ELSE '' END
  FROM (SELECT id, look, short_look, row_number() OVER (PARTITION BY look ORDER BY id) AS n, row_number() OVER (PARTITION BY short_look ORDER BY id) AS short_n
          FROM (SELECT id, skeleton(name) AS look, skeleton(short_name) AS short_look FROM category) x) s WHERE s.id = c.id;
SET CONSTRAINTS ALL IMMEDIATE;

CREATE UNIQUE INDEX account_name_skeleton ON account (name_skeleton) WHERE name_skeleton <> '';
CREATE UNIQUE INDEX project_name_skeleton ON project (name_skeleton) WHERE name_skeleton <> '';
CREATE UNIQUE INDEX project_short_name_skeleton ON project (short_name_skeleton) WHERE short_name_skeleton <> '';
CREATE UNIQUE INDEX category_name_skeleton ON category (name_skeleton) WHERE name_skeleton <> '';
CREATE UNIQUE INDEX category_short_name_skeleton ON category (short_name_skeleton) WHERE short_name_skeleton <> '';
CREATE TRIGGER account_names BEFORE INSERT OR UPDATE OF name ON account FOR EACH ROW EXECUTE FUNCTION names_changed();
CREATE TRIGGER project_names BEFORE INSERT OR UPDATE OF name, short_name ON project FOR EACH ROW EXECUTE FUNCTION names_changed();
CREATE TRIGGER category_names BEFORE INSERT OR UPDATE OF name, short_name ON category FOR EACH ROW EXECUTE FUNCTION names_changed();
