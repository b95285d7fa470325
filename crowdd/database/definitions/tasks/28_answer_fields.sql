-- What values of declared answer fields say together, by the type of the field (project.answer_fields, docs/projects/answer-fields.md).
-- Only values that fit the type are compared.

-- The share of sorted values that are within p_tolerance of p_middle; without one, within two spreads: 1.4826 times the median distance to it, of
-- two in the middle the lower one if p_lower.
CREATE FUNCTION share_near(x numeric[], p_middle numeric, p_tolerance numeric, p_lower boolean) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE near numeric := p_tolerance; n int := cardinality(x); k int := 0; v numeric;
BEGIN
    IF near IS NULL THEN
        SELECT 1.4826 * (d[(n + 1) / 2] + d[CASE WHEN p_lower THEN (n + 1) / 2 ELSE n / 2 + 1 END]) INTO near
          FROM (SELECT array_agg(abs(u - p_middle) ORDER BY abs(u - p_middle)) AS d FROM unnest(x) u) s;
    END IF;
    FOREACH v IN ARRAY x LOOP k := k + (abs(v - p_middle) <= near)::int; END LOOP;
    RETURN k::float8 / n;
END $$;

-- The median. Agreement is the share of pairs within the tolerance, confidence that of values near the median. An even number of values has two
-- in the middle, which may be far apart: then confidence is the least share of values near the median, and near each of them.
CREATE FUNCTION consensus_of_numbers(p_field jsonb, p_values jsonb[]) RETURNS said IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE s said; x numeric[]; n int; j int := 1; pairs bigint := 0; middle numeric; tolerance numeric := (p_field->'tolerance')::numeric;
BEGIN
    SELECT array_agg(number ORDER BY number) INTO x
      FROM (SELECT CASE WHEN jsonb_typeof(v) = 'number' AND octet_length(v::text) <= 800 THEN v::numeric END AS number FROM unnest(p_values) v OFFSET 0) u
     WHERE number >= coalesce((p_field->'min')::numeric, '-Infinity') AND number <= coalesce((p_field->'max')::numeric, 'Infinity');
    n := coalesce(cardinality(x), 0);
    s.n_compared := n;
    IF n = 0 THEN RETURN s; END IF;
    FOR i IN 1 .. n LOOP
        WHILE x[i] - x[j] > coalesce(tolerance, 0) LOOP j := j + 1; END LOOP;
        pairs := pairs + i - j;
    END LOOP;
    s.agreement := share_of_pairs(pairs, n);
    middle := trim_scale((x[(n + 1) / 2] + x[n / 2 + 1]) * 0.5);
    s.confidence := share_near(x, middle, tolerance, false);
    IF x[n / 2] <> x[n / 2 + 1] AND n % 2 = 0 THEN
        s.confidence := least(s.confidence, share_near(x, x[n / 2], tolerance, true), share_near(x, x[n / 2 + 1], tolerance, true));
    END IF;
    s.consensus := to_jsonb(middle);
    RETURN kept_consensus(s);
END $$;

-- Each choice by itself: those that more than half of the values name. Confidence is that of the least certain choice. Of the first field
-- both come from what is known of the volunteers (53_labels.sql). Agreement is
-- 1 - the mean distance of pairs, which is 1 - Jaccard index x MASI weight (Passonneau 2006). A bit for each of at most 50 choices.
CREATE FUNCTION consensus_of_labels(p_field jsonb, p_values jsonb[]) RETURNS said IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE s said; choices jsonb[] := ARRAY(SELECT jsonb_array_elements(p_field->'choices')); masks bigint[] := '{}'; mask bigint; v jsonb; n int; alike float8;
        named int; certainty float8 := 1;
BEGIN
    FOREACH v IN ARRAY p_values LOOP
        mask := named_choices(choices, v);
        IF mask IS NOT NULL THEN masks := array_append(masks, mask); END IF;
    END LOOP;
    n := cardinality(masks);
    s.n_compared := n;
    IF n = 0 THEN RETURN s; END IF;
    s.consensus := '[]';
    FOR i IN 1 .. cardinality(choices) LOOP
        named := 0;
        FOREACH mask IN ARRAY masks LOOP named := named + ((mask >> i) & 1)::int; END LOOP;
        IF 2 * named > n THEN s.consensus := s.consensus || jsonb_build_array(choices[i]); END IF;
        certainty := least(certainty, greatest(named, n - named)::float8 / n);
    END LOOP;
    s.confidence := certainty;
    s.agreement := 1;
    IF masks[1] <> ANY (masks) THEN
        WITH k AS MATERIALIZED (SELECT m, count(*)::float8 AS n FROM unnest(masks) m GROUP BY 1)
        SELECT sum(CASE WHEN a.m = b.m THEN a.n * (a.n - 1) / 2
                        ELSE a.n * b.n * bit_count((a.m & b.m)::bit(64)) / bit_count((a.m | b.m)::bit(64))
                             * CASE WHEN a.m & b.m IN (a.m, b.m) THEN 2.0 / 3 ELSE 1.0 / 3 END END ORDER BY a.m, b.m) INTO alike FROM k a JOIN k b ON a.m <= b.m;
        s.agreement := share_of_pairs(alike, n);
    END IF;
    RETURN kept_consensus(s);
END $$;

-- A text as it is compared: without differences of case (by the rules of Unicode), of spaces and of the form of characters (NFKC). A long
-- one as it is.
CREATE FUNCTION plain_text(p_text text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN octet_length(p_text) <= 2000 THEN folded(regexp_replace(normalize(p_text, NFKC), '\s+', ' ', 'g')) ELSE p_text END $$;

-- The same with the answers that say "nothing there" (an empty array) or "can't tell" (JSON null) in place of a value. Nothing is an answer like a
-- value: more than half of both decide, and which value that is, the values say. Can't tell is the consensus if more than half of all say so;
-- otherwise such answers are left out. The same in crowdd/features/results/comparing_process.py.
CREATE FUNCTION with_unsaid(s said, p_values jsonb[]) RETURNS said IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE nothing int := cardinality(array_positions(p_values, '[]')); unsure int := cardinality(array_positions(p_values, 'null')); valued int := coalesce(s.n_compared, 0); pairs float8;
BEGIN
    IF nothing = 0 AND unsure <= valued THEN RETURN s; END IF;
    pairs := coalesce(s.agreement, 0) * valued * (valued - 1) / 2.0 + nothing * (nothing - 1) / 2;
    s.n_compared := valued + nothing;
    IF unsure > s.n_compared THEN
        pairs := pairs + unsure * (unsure - 1) / 2;
        s.n_compared := s.n_compared + unsure; s.consensus := 'null'; s.confidence := unsure::float8 / s.n_compared;
    ELSIF nothing > valued THEN
        s.consensus := '[]'; s.confidence := nothing::float8 / s.n_compared;
    ELSIF nothing = valued THEN
        s.consensus := NULL; s.confidence := NULL;
    ELSE
        s.confidence := s.confidence * valued / s.n_compared;
    END IF;
    s.agreement := share_of_pairs(pairs, s.n_compared);
    RETURN kept_consensus(s);
END $$;

-- Of values that an answer has at a field. Other types are compared after the commit (29_comparison.sql): then n_compared is null.
CREATE FUNCTION consensus_of_field(p_field jsonb, p_values jsonb[]) RETURNS said IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE choices jsonb[];
BEGIN
    CASE p_field->>'type'
    WHEN 'opinion' THEN                 -- counted, never compared
        RETURN (NULL, NULL, cardinality(array_remove(p_values, 'null')), NULL, NULL)::said;
    WHEN 'number' THEN RETURN with_unsaid(consensus_of_numbers(p_field, p_values), p_values);
    WHEN 'labels' THEN RETURN with_unsaid(consensus_of_labels(p_field, p_values), array_remove(p_values, '[]'));  -- here none is a value
    WHEN 'label' THEN
        IF p_field->'choices' IS NULL THEN
            RETURN most_frequent(ARRAY(SELECT v FROM unnest(p_values) v WHERE jsonb_typeof(v) NOT IN ('array', 'object') ORDER BY v));
        END IF;
        choices := ARRAY(SELECT jsonb_array_elements(p_field->'choices'));
        RETURN most_frequent(ARRAY(SELECT choices[nth] FROM (SELECT choice_position(choices, v) AS nth FROM unnest(p_values) v OFFSET 0) c WHERE nth IS NOT NULL ORDER BY 1));
    ELSE RETURN NULL;
    END CASE;
END $$;

-- Of the first field, by the sorted values of the answers that do not leave it out (answer_values). A label is compared as answers without
-- fields are: also values that are no choice.
CREATE FUNCTION first_consensus(p_fields jsonb, p_values jsonb[]) RETURNS said IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF p_fields->0->>'type' = 'label' THEN RETURN most_frequent(p_values); END IF;
    RETURN consensus_of_field(p_fields->0, p_values);
END $$;

CREATE FUNCTION said_as_json(s said) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN (s).n_compared IS NULL THEN 'null' ELSE CASE WHEN (s).consensus IS NULL THEN '{}' ELSE jsonb_build_object('value', (s).consensus) END
    || jsonb_build_object('hash', (s).consensus_hash, 'answers', (s).n_compared, 'agreement', (s).agreement, 'confidence', (s).confidence) END $$;

-- Of each further field: result.further. An element is null while its values are still to be compared. Otherwise it has the keys value (missing: several values are the most frequent, or it is
-- longer than 2,000 bytes), hash, answers, agreement and confidence. Answers without a value at a field are left out there.
CREATE FUNCTION further_consensus(p_fields jsonb, p_infos jsonb[]) RETURNS jsonb IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE further jsonb := '[]'; field jsonb; path text[]; s said; v jsonb; info jsonb; found jsonb[];
BEGIN
    FOR nth IN 1 .. jsonb_array_length(p_fields) - 1 LOOP
        field := p_fields->nth;
        path := (field->>'path')::text[];
        found := '{}';
        FOREACH info IN ARRAY p_infos LOOP
            v := said_at(info, path);
            IF v IS NOT NULL THEN found := array_append(found, v); END IF;
        END LOOP;
        s := consensus_of_field(field, found);
        further := further || jsonb_build_array(said_as_json(s));
    END LOOP;
    RETURN nullif(further, '[]');
END $$;

-- What answers say, as it is shown: by the names of the fields, null where it is still to be compared. A single answer has no agreement. p_first: what is
-- printed of the first field instead of its confidence (printed_as_json).
CREATE FUNCTION consensus_by_name(p_names text[], s said, p_further jsonb, p_first jsonb) RETURNS jsonb IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE found jsonb := jsonb_build_array(CASE WHEN s.n_compared IS NOT NULL THEN said_as_json(s) END) || coalesce(p_further, '[]'); shown jsonb := '{}'; e jsonb;
BEGIN
    FOR nth IN 1 .. cardinality(p_names) LOOP
        e := nullif(found->(nth - 1), 'null') - 'hash';
        IF nth = 1 THEN e := e || coalesce(p_first, '{}'); END IF;
        IF (e->>'answers')::int < 2 THEN e := e || '{"agreement": null}'; END IF;
        shown := shown || jsonb_build_object(p_names[nth], e);
    END LOOP;
    RETURN shown;
END $$;

-- The same for the last version of a result. Earlier versions may be of other fields. Without fields the only name is "answer".
CREATE FUNCTION consensus_of_result(p_project bigint, p_last boolean, s said, p_further jsonb, p_first jsonb) RETURNS jsonb STABLE LANGUAGE plpgsql AS $$
BEGIN
    IF NOT p_last THEN RETURN NULL; END IF;
    RETURN consensus_by_name(coalesce((SELECT answer_names FROM project WHERE id = p_project), '{answer}'), s, p_further, p_first);
END $$;
