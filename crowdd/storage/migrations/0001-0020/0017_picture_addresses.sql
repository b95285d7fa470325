-- Addresses of pictures are uploads or https addresses. Older values could be any address of this server, and browsers
-- request pictures with the cookies of the visitor.
CREATE FUNCTION pg_temp.is_picture(address text) RETURNS boolean LANGUAGE sql AS $$
SELECT address ~ '^(https?://[^/?#]+)?/uploads/[A-Za-z0-9][A-Za-z0-9._-]{0,199}/[A-Za-z0-9][A-Za-z0-9._-]{0,199}$'
    OR address ~ '^https://[^/?#@\s\\]+' $$;

UPDATE blogpost SET media_url = NULL WHERE NOT pg_temp.is_picture(media_url);
UPDATE announcement SET media_url = NULL WHERE NOT pg_temp.is_picture(media_url);
UPDATE helpingmaterial SET media_url = NULL WHERE NOT pg_temp.is_picture(media_url);
UPDATE project SET info = info - 'thumbnail_url'
 WHERE info ? 'thumbnail_url' AND pg_temp.is_picture(info->>'thumbnail_url') IS NOT TRUE;
UPDATE account SET info = info - 'avatar_url'
 WHERE info ? 'avatar_url' AND pg_temp.is_picture(info->>'avatar_url') IS NOT TRUE;
