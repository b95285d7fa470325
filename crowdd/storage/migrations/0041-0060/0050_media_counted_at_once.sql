-- Counts the files of a batch once for each statement. Counting row by row updated the same row of media_batch for each file, which
-- took a time that grew with the square of the files: an archive of ten thousand ran into the limit for a statement.

DROP TRIGGER media_is_counted ON media_file;
DROP FUNCTION count_media();

-- Keeps the counters of batches. Who changes a file and its batch in one transaction locks the batch first.
CREATE FUNCTION count_media() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE media_batch b SET n_files = n_files + c.files, open_files = open_files + c.open, open_bytes = open_bytes + c.size
          FROM (SELECT batch_id, count(*) AS files, count(*) FILTER (WHERE state IN ('arriving', 'waiting')) AS open,
                       coalesce(sum(bytes) FILTER (WHERE state IN ('arriving', 'waiting')), 0) AS size FROM came GROUP BY 1) c
         WHERE b.id = c.batch_id;
    ELSIF TG_OP = 'DELETE' THEN
        UPDATE media_batch b SET n_files = n_files - c.files, open_files = open_files - c.open, open_bytes = open_bytes - c.size
          FROM (SELECT batch_id, count(*) AS files, count(*) FILTER (WHERE state IN ('arriving', 'waiting')) AS open,
                       coalesce(sum(bytes) FILTER (WHERE state IN ('arriving', 'waiting')), 0) AS size FROM gone GROUP BY 1) c
         WHERE b.id = c.batch_id;
    ELSE
        UPDATE media_batch b SET open_files = open_files + c.open, open_bytes = open_bytes + c.size
          FROM (SELECT batch_id, sum(one) AS open, sum(bytes) AS size
                  FROM (SELECT batch_id, 1 AS one, bytes FROM came WHERE state IN ('arriving', 'waiting') UNION ALL
                        SELECT batch_id, -1, -bytes FROM gone WHERE state IN ('arriving', 'waiting')) each
                 GROUP BY 1 HAVING sum(one) <> 0 OR sum(bytes) <> 0) c
         WHERE b.id = c.batch_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER media_comes AFTER INSERT ON media_file REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION count_media();
CREATE TRIGGER media_goes AFTER DELETE ON media_file REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_media();
CREATE TRIGGER media_changes AFTER UPDATE ON media_file REFERENCING OLD TABLE AS gone NEW TABLE AS came FOR EACH STATEMENT
    EXECUTE FUNCTION count_media();
