-- The tables of a PyBossa server as its models declare them (version 4.0.2), as far as rows come over, and two that do not.
CREATE TABLE category (
    id serial PRIMARY KEY, name text NOT NULL UNIQUE, short_name text NOT NULL UNIQUE, description text NOT NULL, created text, info jsonb);
CREATE TABLE "user" (
    id serial PRIMARY KEY, created text, email_addr varchar(254) NOT NULL UNIQUE, name varchar(254) NOT NULL UNIQUE, fullname varchar(500) NOT NULL,
    locale varchar(254) NOT NULL DEFAULT 'en', api_key varchar(36) UNIQUE, passwd_hash varchar(254) UNIQUE, ldap varchar UNIQUE,
    admin boolean DEFAULT false, pro boolean DEFAULT false, privacy_mode boolean NOT NULL DEFAULT true, restrict boolean NOT NULL DEFAULT false,
    category int, flags int, google_user_id varchar UNIQUE, ckan_api varchar UNIQUE, newsletter_prompted boolean DEFAULT false,
    valid_email boolean DEFAULT false, confirmation_email_sent boolean DEFAULT false, subscribed boolean DEFAULT true, consent boolean DEFAULT false,
    info jsonb, user_pref jsonb, notified_at date);
CREATE TABLE project (
    id serial PRIMARY KEY, created text, updated text, name varchar(255) NOT NULL UNIQUE, short_name varchar(255) NOT NULL UNIQUE,
    description varchar(255) NOT NULL, long_description text, webhook text, allow_anonymous_contributors boolean DEFAULT true,
    published boolean NOT NULL DEFAULT false, featured boolean NOT NULL DEFAULT false, secret_key text, zip_download boolean DEFAULT true,
    contacted boolean NOT NULL DEFAULT false, owner_id int, category_id int, info jsonb, owners_ids int[]);
CREATE TABLE task (
    id serial PRIMARY KEY, created text, project_id int NOT NULL REFERENCES project ON DELETE CASCADE, state text DEFAULT 'ongoing', quorum int DEFAULT 0,
    calibration int DEFAULT 0, priority_0 float DEFAULT 0, info json, n_answers int DEFAULT 30, fav_user_ids int[]);
CREATE TABLE task_run (
    id serial PRIMARY KEY, created text, project_id int NOT NULL, task_id int NOT NULL, user_id int, user_ip text, finish_time text, timeout int,
    calibration int, external_uid text, media_url text, info json);
CREATE TABLE result (
    id serial PRIMARY KEY, created text, project_id int NOT NULL, task_id int NOT NULL, task_run_ids int[] NOT NULL, last_version boolean DEFAULT true, info json);
CREATE TABLE blogpost (
    id serial PRIMARY KEY, created text, updated text, project_id int NOT NULL, user_id int, title varchar(255) NOT NULL, body text NOT NULL, info json,
    media_url text, published boolean NOT NULL DEFAULT false);
CREATE TABLE helpingmaterial (
    id serial PRIMARY KEY, created timestamp, project_id int NOT NULL, info json, media_url text, priority float DEFAULT 0);
CREATE TABLE announcement (
    id serial PRIMARY KEY, created text, user_id int, updated text, title varchar(255) NOT NULL, body text NOT NULL, info json, media_url text,
    published boolean NOT NULL DEFAULT false);
CREATE TABLE webhook (
    id serial PRIMARY KEY, created text, updated text, project_id int NOT NULL, payload json, response text, response_status_code int);
CREATE TABLE auditlog (id serial PRIMARY KEY, project_id int, action text);
