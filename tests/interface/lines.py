"""What the interface says about /api, statement by statement, and the test that shows each.

A statement is in our words under the heading of the interface where it stands. ``shown_by`` names tests as
``path::function`` below ``tests``; a statement about a part that does not exist yet says in ``waits_for`` for what.
"""

from __future__ import annotations

import attrs

RECORDS = "interface/test_records.py"
PROJECTS = "api/test_projects.py"
LISTS = "api/test_lists.py"
MORE = "api/test_lists_more.py"
NEWTASK = "api/test_newtask.py"
RUNS = "api/test_task_runs.py"
EXTERNAL = "api/test_external_users.py"
USERS = "api/test_users.py"
ERRORS = "api/test_errors.py"
LIMIT = "api/test_rate_limit.py"
REQUESTER = "api/test_requester.py"
PROGRESS = "api/test_userprogress.py"
MEDIA = "api/test_media.py"
EXPOSURE = "matrix/test_exposure.py"
RIGHTS = "matrix/test_rights.py"
JS = "clients/test_pybossa_js.py"
KEYS = "pages/test_json_keys.py"
RANKS = "pages/test_statistics_pages.py"
ADMIN = "pages/test_administration.py"
ENTRY = f"{ADMIN}::test_only_administrators_get_in_and_nothing_happens_for_others"
FORGED = f"{ADMIN}::test_no_form_is_believed_without_its_token"
BY_LINK = f"{ADMIN}::test_the_rights_of_administrators_by_link_as_programs_follow_it"
NOT_BY_OTHERS = f"{ADMIN}::test_get_by_a_browser_changes_no_rights_and_shows_a_button"
FIGURES = "api/test_projectstats.py"
OWNER = "pages/test_owner_pages.py"
ROWS = "pages/test_owner_rows.py"
LISTED = "pages/test_shelves.py"
TASKS, IMPORTS, CHANGES = "pages/test_task_pages.py", "pages/test_imports.py", "pages/test_change_pages.py"
OVERVIEW = "test_the_overview_has_the_keys_of_the_interface_for_everybody"
SEEN = f"{TASKS}::test_who_may_look_is_decided_for_all_of_it"
CHANGERS = f"{CHANGES}::test_the_forms_are_those_of_the_incumbent_for_owners_alone"
DRAFT_ROW = f"{ROWS}::test_each_row_of_a_draft_to_each_requester_as_page_and_as_json"
OPEN_ROW = f"{ROWS}::test_each_row_of_a_published_project_to_each_requester"
PAUSED_ROW = f"{ROWS}::test_a_paused_project_keeps_its_pages"
LOCKED_ROW = f"{ROWS}::test_a_locked_project_shows_each_row_to_its_owners_alone"
EACH_ROW = (DRAFT_ROW, OPEN_ROW, PAUSED_ROW, LOCKED_ROW)
OTHERS = f"{ROWS}::test_what_changes_a_project_is_refused_to_all_others"
TOKEN = f"{ROWS}::test_no_form_is_believed_without_its_token"
NOT_WRITTEN = (OTHERS, TOKEN)

ASSIGNMENT = "assignment"


@attrs.frozen
class Line:
    """One statement of the interface."""

    section: str
    statement: str
    shown_by: tuple[str, ...] = ()
    waits_for: str = ""


def _line(section: str, statement: str, *shown_by: str, waits_for: str = "") -> Line:
    return Line(section, statement, shown_by, waits_for)


LINES = (
    # What the service does
    _line(
        "What the service does",
        "Volunteers are anonymous, registered or known by an external id",
        f"{PROGRESS}::test_done_and_total_for_each_kind_of_caller",
    ),
    _line(
        "What the service does",
        "Bodies of the API are JSON, in both directions",
        f"{ERRORS}::test_the_api_is_data_and_never_a_document",
        f"{ERRORS}::test_a_body_that_is_no_json_object_is_refused",
    ),
    _line(
        "What the service does",
        "An external user is followed without being registered",
        f"{EXTERNAL}::test_with_a_token_an_external_user_asks_and_answers",
    ),
    # Domain objects
    _line(
        "Domain objects",
        "Nine kinds of objects are there below /api",
        f"{RECORDS}::test_every_attribute_of_the_interface_is_there",
        "api/test_openapi.py::test_what_there_is_below_api",
    ),
    _line(
        "Domain objects",
        "Attributes are filters",
        f"{EXPOSURE}::test_a_filter_finds_by_what_the_requester_may_read_and_by_nothing_else",
    ),
    _line(
        "Domain objects",
        "Attributes are keys of orderby",
        f"{EXPOSURE}::test_an_order_follows_what_the_requester_may_read_and_nothing_else",
    ),
    # Hypermedia fields
    _line(
        "Hypermedia fields",
        "link is on every object and names it with its type and absolute address",
        f"{RECORDS}::test_links_name_the_object_and_its_parents",
    ),
    _line(
        "Hypermedia fields",
        "links is there for objects with parents, one element for each",
        f"{RECORDS}::test_links_name_the_object_and_its_parents",
    ),
    _line(
        "Hypermedia fields",
        "A project has no links, nor has an announcement",
        f"{RECORDS}::test_links_name_the_object_and_its_parents",
        f"{PROJECTS}::test_strangers_see_a_reduced_project_without_secrets",
    ),
    _line(
        "Hypermedia fields",
        "Parents: of a task, material and post the project; of a run task and project; of a result project and task",
        f"{RECORDS}::test_links_name_the_object_and_its_parents",
    ),
    _line(
        "Hypermedia fields",
        "They are no part of what is stored: a body may bring them and nothing comes of it",
        f"{PROJECTS}::test_computed_attributes_in_a_body_are_ignored",
    ),
    # TaskRun
    _line("TaskRun", "It has these attributes", f"{RECORDS}::test_every_attribute_of_the_interface_is_there"),
    _line(
        "TaskRun",
        "user_id is null for anonymous and external users",
        f"{RUNS}::test_an_answer_is_stored_with_its_times",
        f"{JS}::test_save_task_by_number_asks_for_the_task_first",
    ),
    _line(
        "TaskRun",
        "user_ip is where the answer came from, as a pseudonym",
        f"{REQUESTER}::test_stored_addresses_are_pseudonyms_of_the_same_family",
    ),
    _line(
        "TaskRun",
        "external_uid is filled when the query has it",
        f"{EXTERNAL}::test_with_a_token_an_external_user_asks_and_answers",
    ),
    _line(
        "TaskRun",
        "info is any JSON value",
        f"{RECORDS}::test_types_are_those_of_the_tables",
        f"{JS}::test_a_task_of_the_address_is_shown_by_its_page_and_can_be_answered",
    ),
    _line(
        "TaskRun",
        "created and finish_time are ISO 8601 without zone, with microseconds",
        f"{RECORDS}::test_times_are_iso_8601_without_zone_with_microseconds",
    ),
    _line(
        "TaskRun",
        "calibration and timeout are null or a value",
        f"{RECORDS}::test_types_are_those_of_the_tables",
        f"{RUNS}::test_a_late_answer_without_a_place_is_kept_and_does_not_count",
    ),
    # Project
    _line("Project", "It has these attributes", f"{RECORDS}::test_every_attribute_of_the_interface_is_there"),
    _line("Project", "name and info are enough to create one", f"{PROJECTS}::test_a_name_is_enough"),
    _line(
        "Project", "short_name stands in addresses", f"{PROJECTS}::test_a_short_name_is_no_page_and_fits_in_an_address"
    ),
    _line("Project", "info is a free object", f"{PROJECTS}::test_info_is_replaced_not_merged"),
    _line(
        "Project",
        "contrib_button says what the caller can do, can_contribute for one",
        f"{PROJECTS}::test_the_contribution_button_says_what_the_caller_can_do",
    ),
    _line(
        "Project",
        "secret_key is made by the service and shown to the owner only",
        f"{PROJECTS}::test_a_name_is_enough",
        f"{EXPOSURE}::test_a_list_and_a_row_show_what_the_requester_may_read_and_nothing_else",
    ),
    _line("Project", "webhook is an address or null", f"{PROJECTS}::test_a_name_is_enough"),
    _line(
        "Project",
        "n_blogposts and n_results count what there is",
        f"{RECORDS}::test_types_are_those_of_the_tables",
        f"{PROJECTS}::test_an_owner_sees_true_figures_at_once",
        f"{FIGURES}::test_results_count_once_their_owner_has_filled_them",
    ),
    _line(
        "Project",
        "created and updated are ISO 8601 without zone",
        f"{RECORDS}::test_times_are_iso_8601_without_zone_with_microseconds",
    ),
    _line(
        "Project",
        "For others the record is reduced: six attributes are there and null",
        f"{PROJECTS}::test_strangers_see_a_reduced_project_without_secrets",
    ),
    # Task, Result, Blog post, Helping material
    _line(
        "Task",
        "It has id, created, priority_0 and its project",
        f"{RECORDS}::test_every_attribute_of_the_interface_is_there",
    ),
    _line(
        "Task",
        "priority_0 is a number to order by",
        f"{NEWTASK}::test_the_default_order_is_priority_then_id_and_orderby_changes_it",
        f"{LISTS}::test_orderby_and_desc",
    ),
    _line(
        "Result, Blog post, Helping material",
        "They have their parents, and the project counts results and posts",
        f"{RECORDS}::test_links_name_the_object_and_its_parents",
        f"{RECORDS}::test_types_are_those_of_the_tables",
    ),
    # Category, Announcement, User
    _line(
        "Category",
        "It has these attributes",
        f"{RECORDS}::test_every_attribute_of_the_interface_is_there",
        "api/test_categories.py::test_administrators_make_change_and_delete_categories",
    ),
    _line(
        "Announcement",
        "It has these attributes, and user_id is its author",
        f"{RECORDS}::test_every_attribute_of_the_interface_is_there",
        f"{MEDIA}::test_only_administrators_announce",
    ),
    _line("User", "Everybody sees name and locale", f"{USERS}::test_others_see_name_and_locale_only"),
    _line(
        "User",
        "With privacy mode off fullname and created are public too",
        f"{USERS}::test_who_switches_privacy_off_shows_fullname_and_date",
    ),
    _line(
        "User",
        "The person and administrators see these attributes",
        f"{RECORDS}::test_every_attribute_of_the_interface_is_there",
        f"{USERS}::test_one_sees_everything_of_oneself_but_no_password",
    ),
    _line(
        "User",
        "info has extra, where an administrator may store more",
        f"{USERS}::test_one_changes_oneself_and_administrators_everybody",
        "clients/test_front_ends.py::test_a_person_changes_info_and_an_administrator_the_role",
    ),
    _line(
        "User",
        "One attribute per provider holds the person's id there",
        f"{RECORDS}::test_every_attribute_of_the_interface_is_there",
    ),
    _line(
        "User",
        "passwd_hash is a key of administrators' records; its value is null on purpose",
        f"{USERS}::test_administrators_see_everybody_and_a_null_for_the_password",
    ),
    _line(
        "User",
        "rank, score, n_answers and total are integers",
        "pages/test_statistics_pages.py::test_who_is_shown_on_a_profile_has_whole_numbers",
    ),
    _line(
        "Project statistics record",
        "It carries the number of tasks and volunteers, the progress and info",
        f"{FIGURES}::test_a_record_has_the_figures_and_without_full_an_empty_info",
    ),
    _line(
        "Project statistics record",
        "With full=1 info has statistics per hour, day and user of two weeks",
        f"{FIGURES}::test_full_has_hours_days_and_people_of_two_weeks",
        f"{FIGURES}::test_two_weeks_end_without_a_job_and_with_one",
    ),
    # States
    _line(
        "States",
        "A project is a draft or published",
        f"{PROJECTS}::test_drafts_are_neither_listed_nor_found",
        f"{RIGHTS}::test_rights",
    ),
    # Generic operations
    _line(
        "Generic operations",
        "GET of a kind is an array of its objects",
        f"{RECORDS}::test_every_attribute_of_the_interface_is_there",
    ),
    _line(
        "Generic operations", "GET of an id is the object", f"{RECORDS}::test_every_attribute_of_the_interface_is_there"
    ),
    _line(
        "Generic operations",
        "POST answers the created object",
        f"{PROJECTS}::test_a_name_is_enough",
        "api/test_tasks.py::test_a_project_is_enough",
    ),
    _line("Generic operations", "PUT answers the changed object", f"{PROJECTS}::test_a_whole_record_can_be_put_back"),
    _line(
        "Generic operations",
        "DELETE removes it",
        f"{PROJECTS}::test_deleting_takes_everything_along_and_answers_nothing",
    ),
    _line("Generic operations", "Some actions need a key and rights", f"{RIGHTS}::test_rights"),
    # List query parameters
    _line(
        "List query parameters",
        "<attribute> filters by its value",
        f"{LISTS}::test_filters_are_joined_by_and",
        f"{LISTS}::test_texts_and_yes_or_no_are_compared",
    ),
    _line(
        "List query parameters",
        "all=1 with a key gives the whole table",
        f"{RECORDS}::test_an_anonymous_list_has_all_rows_by_id_and_so_has_all",
    ),
    _line("List query parameters", "orderby sorts by an attribute", f"{LISTS}::test_orderby_and_desc"),
    _line("List query parameters", "desc=true turns the order round", f"{LISTS}::test_orderby_and_desc"),
    _line(
        "List query parameters",
        "limit is 20 unless given, 100 at most",
        f"{LISTS}::test_a_page_has_twenty_rows_and_never_more_than_a_hundred",
    ),
    _line(
        "List query parameters",
        "offset skips rows",
        "clients/test_front_ends.py::test_infinite_lists_go_on_by_offset_until_nothing_comes",
    ),
    _line(
        "List query parameters",
        "last_id goes on after an id",
        f"{LISTS}::test_last_id_gives_what_comes_after_in_any_order",
    ),
    _line(
        "List query parameters",
        "api_key says who asks",
        f"{REQUESTER}::test_a_key_is_taken_from_the_query_or_the_authorization_header",
    ),
    _line(
        "List query parameters",
        "participated=1 leaves out tasks that the user took part in",
        f"{LISTS}::test_participated_leaves_out_what_the_caller_has_answered",
    ),
    _line(
        "List query parameters",
        "external_uid with participated names an external user",
        f"{LISTS}::test_participated_leaves_out_what_the_caller_has_answered",
    ),
    _line(
        "Context rules",
        "An anonymous list has all rows by id",
        f"{RECORDS}::test_an_anonymous_list_has_all_rows_by_id_and_so_has_all",
    ),
    _line(
        "Context rules",
        "With a key a list has the caller's own",
        f"{LISTS}::test_with_a_key_a_list_holds_only_ones_own_projects_rows",
        f"{LISTS}::test_what_one_co_owns_is_ones_own",
    ),
    _line(
        "Context rules",
        "With all=1 it has all rows by id",
        f"{RECORDS}::test_an_anonymous_list_has_all_rows_by_id_and_so_has_all",
    ),
    _line(
        "List query parameters",
        "Lists of users show public attributes only",
        f"{USERS}::test_others_see_name_and_locale_only",
        f"{EXPOSURE}::test_a_list_and_a_row_show_what_the_requester_may_read_and_nothing_else",
    ),
    # Special endpoints
    _line(
        "Special endpoints",
        "newtask gives a task for the caller, or none",
        f"{NEWTASK}::test_both_paths_and_the_same_task_until_it_is_answered",
        f"{NEWTASK}::test_no_task_is_an_empty_object_and_says_why",
    ),
    _line(
        "Special endpoints",
        "newtask: limit gives several, reduced to 100",
        f"{NEWTASK}::test_more_than_a_hundred_tasks_at_once_are_a_hundred",
    ),
    _line(
        "Special endpoints",
        "newtask: offset gives the next tasks, for preloading, together with limit",
        f"{NEWTASK}::test_limit_and_offset_index_one_sequence",
    ),
    _line(
        "Special endpoints",
        "newtask: orderby and desc",
        f"{NEWTASK}::test_the_default_order_is_priority_then_id_and_orderby_changes_it",
    ),
    _line("Special endpoints", "newtask: orderby any other attribute of a task", waits_for=ASSIGNMENT),
    _line(
        "Special endpoints",
        "newtask: external_uid asks for an external user",
        f"{EXTERNAL}::test_with_a_token_an_external_user_asks_and_answers",
    ),
    _line(
        "Special endpoints",
        "favorites lists the tasks that the caller marked",
        f"{MORE}::test_favourites_are_marked_listed_and_unmarked",
    ),
    _line(
        "Special endpoints",
        "POST to favorites marks the task of the body",
        f"{MORE}::test_favourites_are_marked_listed_and_unmarked",
    ),
    _line(
        "Special endpoints",
        "DELETE of favorites takes the mark off",
        f"{MORE}::test_favourites_are_marked_listed_and_unmarked",
    ),
    _line(
        "Special endpoints",
        "favorites are of authenticated users",
        f"{MORE}::test_favourites_refuse_what_makes_no_sense",
    ),
    _line(
        "Special endpoints",
        "token gives a user's own tokens of providers",
        "pages/test_providers.py::test_ones_own_tokens_over_the_api",
    ),
    _line(
        "Special endpoints",
        "token/<provider> gives that of one",
        "pages/test_providers.py::test_ones_own_tokens_over_the_api",
    ),
    _line(
        "Special endpoints",
        "auth/project/<short_name>/token gives a JWT for the secret key",
        f"{EXTERNAL}::test_the_secret_key_buys_a_token",
    ),
    _line(
        "Special endpoints",
        "commenting/sso answers only when keys are configured",
        f"{MORE}::test_commenting_needs_keys",
    ),
    _line(
        "Special endpoints", "commenting/sso gives api_key and remote_auth_s3", f"{MORE}::test_commenting_needs_keys"
    ),
    _line(
        "Special endpoints",
        "projectstats lists statistics records, of named projects, with full=1 in full",
        f"{FIGURES}::test_projects_are_named_by_a_list_and_listed_by_id",
        f"{FIGURES}::test_drafts_and_locked_projects_are_listed_for_their_owners_alone",
    ),
    _line(
        "Special endpoints",
        "project?stats=True brings statistics along",
        f"{FIGURES}::test_project_lists_bring_statistics_along",
    ),
    _line(
        "Special endpoints",
        "userprogress says how much a user has done, by id or short name of the project",
        f"{PROGRESS}::test_done_and_total_for_each_kind_of_caller",
        f"{JS}::test_user_progress_says_done_and_total",
    ),
    _line(
        "Special endpoints",
        "userprogress is of the signed-in user, else of the anonymous one, or of external_uid",
        f"{PROGRESS}::test_done_and_total_for_each_kind_of_caller",
    ),
    _line(
        "Submitting for an external user",
        "POST of a run with external_uid in query and body and a bearer token",
        f"{EXTERNAL}::test_with_a_token_an_external_user_asks_and_answers",
    ),
    _line(
        "Submitting for an external user",
        "Both external_uid are equal",
        f"{EXTERNAL}::test_body_and_address_name_the_same_external_user",
    ),
    # The user endpoint
    _line(
        "The user endpoint",
        "Anonymous: no POST, PUT, DELETE; reads name and locale",
        f"{RECORDS}::test_the_user_endpoint_by_actor",
    ),
    _line(
        "The user endpoint",
        "Authenticated: no POST, DELETE, no PUT on others; reads name and locale of others, all of oneself",
        f"{RECORDS}::test_the_user_endpoint_by_actor",
        f"{USERS}::test_one_changes_oneself_and_administrators_everybody",
    ),
    _line(
        "The user endpoint",
        "Administrators: no POST, DELETE; read everybody with ids",
        f"{RECORDS}::test_the_user_endpoint_by_actor",
        f"{USERS}::test_administrators_see_everybody_and_a_null_for_the_password",
    ),
    # Authentication
    _line(
        "Authentication",
        "The key is the query parameter api_key",
        f"{REQUESTER}::test_a_key_is_taken_from_the_query_or_the_authorization_header",
    ),
    _line(
        "Authentication",
        "A new key takes the place of the old one",
        f"{REQUESTER}::test_a_key_is_no_good_once_it_is_replaced",
    ),
    _line(
        "Authentication",
        "Without a key the caller is anonymous and known by address",
        f"{RUNS}::test_clients_without_cookies_behind_one_address_are_one_volunteer",
    ),
    _line(
        "Authentication",
        "Each project has a secret key, which buys a JWT by the Authorization header",
        f"{EXTERNAL}::test_the_secret_key_buys_a_token",
    ),
    _line(
        "Authentication",
        "The bearer token is sent to newtask and to taskrun",
        f"{EXTERNAL}::test_with_a_token_an_external_user_asks_and_answers",
    ),
    _line(
        "Authentication",
        "Nobody else sends data for external users of the project",
        f"{EXTERNAL}::test_a_token_that_is_not_right_is_told_what_is_wrong_with_it",
        f"{EXTERNAL}::test_a_token_of_another_project_opens_nothing",
    ),
    _line("Authentication", "Roles: anonymous, authenticated, administrator", f"{RIGHTS}::test_rights"),
    # Errors
    _line(
        "Errors",
        "A failed request is an object of status, action, target, exception_msg, status_code, exception_cls",
        f"{RECORDS}::test_a_failed_request_names_method_and_type",
        f"{ERRORS}::test_the_table_of_refusals",
    ),
    _line(
        "Errors",
        "What does not exist: 404, NotFound, 404 Not Found",
        f"{RECORDS}::test_a_failed_request_names_method_and_type",
    ),
    _line(
        "Errors",
        "POST, PUT or DELETE with an unknown attribute: 415, AttributeError, which is named",
        f"{RECORDS}::test_an_unknown_attribute_is_415_and_named",
        f"{ERRORS}::test_an_unknown_attribute_is_named",
    ),
    _line(
        "Errors",
        "Any other error has the same shape",
        f"{ERRORS}::test_the_table_of_refusals",
        f"{ERRORS}::test_a_failure_of_ours_says_nothing_of_what_failed",
    ),
    _line("Errors", "Forbidden operations on users", f"{RECORDS}::test_the_user_endpoint_by_actor"),
    # Limits
    _line(
        "Limits",
        "300 requests per 15 minutes, address and endpoint",
        f"{LIMIT}::test_three_hundred_pass_and_the_next_is_refused",
        f"{LIMIT}::test_an_endpoint_is_a_route_without_its_id_and_all_its_methods",
    ),
    _line(
        "Limits",
        "X-RateLimit-Limit, -Remaining and -Reset, the last in epoch seconds",
        f"{LIMIT}::test_three_hundred_pass_and_the_next_is_refused",
        "clients/test_pbs.py::test_what_pbs_reads_of_the_limit",
    ),
    _line(
        "Limits",
        "A list has 20 items unless limit says otherwise",
        f"{LISTS}::test_a_page_has_twenty_rows_and_never_more_than_a_hundred",
    ),
    _line(
        "Limits",
        "limit is at most 100 for lists and newtask",
        f"{LISTS}::test_a_page_has_twenty_rows_and_never_more_than_a_hundred",
        f"{NEWTASK}::test_more_than_a_hundred_tasks_at_once_are_a_hundred",
    ),
    # Versioning
    _line(
        "Versioning",
        "Addresses have no version; the API is below /api",
        "api/test_openapi.py::test_what_there_is_below_api",
    ),
    _line(
        "Versioning", "External ids are supported", f"{EXTERNAL}::test_with_a_token_an_external_user_asks_and_answers"
    ),
    _line(
        "Versioning",
        "offset still works beside last_id",
        "clients/test_front_ends.py::test_infinite_lists_go_on_by_offset_until_nothing_comes",
        "clients/test_front_ends.py::test_whole_lists_go_on_by_the_last_id",
    ),
    # User-facing routes: accounts
    _line(
        "User-facing routes",
        "GET /account/page/<int:page>",
        "pages/test_account_rows.py::test_each_row_to_each_requester_as_page_and_as_json",
        "pages/test_community.py::test_people_come_by_pages_the_newest_first",
    ),
    _line("User-facing routes", "GET /account/register", "pages/test_json_keys.py::test_register"),
    _line(
        "User-facing routes",
        "POST /account/register",
        "pages/test_json_keys.py::test_register",
        "pages/test_accounts.py::test_a_form_with_mistakes_says_which",
        "pages/test_letters_of_accounts.py::test_an_account_comes_into_being_by_its_link",
    ),
    _line(
        "User-facing routes",
        "GET /account/signin",
        "pages/test_json_keys.py::test_sign_in",
        "pages/test_providers.py::test_only_what_is_configured_is_offered",
    ),
    _line(
        "User-facing routes",
        "POST /account/signin",
        "pages/test_json_keys.py::test_sign_in",
        "pages/test_accounts.py::test_an_unknown_address_and_a_wrong_password_get_the_same_words",
    ),
    _line("User-facing routes", "GET /account/signout", "pages/test_json_keys.py::test_sign_out"),
    _line(
        "User-facing routes",
        "GET /account/forgot-password",
        "pages/test_account_rows.py::test_each_row_to_each_requester_as_page_and_as_json",
        "pages/test_letters_of_accounts.py::test_the_keys_of_forgot_and_reset",
    ),
    _line(
        "User-facing routes",
        "POST /account/forgot-password",
        "pages/test_letters_of_accounts.py::test_the_keys_of_forgot_and_reset",
        "pages/test_letters_of_accounts.py::test_who_has_no_account_or_is_blocked_gets_the_same_answer_and_no_letter",
    ),
    _line(
        "User-facing routes",
        "GET /account/<name>",
        "pages/test_account_rows.py::test_each_row_to_each_requester_as_page_and_as_json",
        "pages/test_json_keys.py::test_anothers_profile",
    ),
    _line(
        "User-facing routes",
        "GET /account/profile",
        "pages/test_json_keys.py::test_ones_own_profile_under_both_addresses",
        "pages/test_json_keys.py::test_a_profile_without_a_session_says_so",
    ),
    _line(
        "User-facing routes",
        "GET /account/<name>/projects",
        "pages/test_account_rows.py::test_each_row_to_each_requester_as_page_and_as_json",
        "pages/test_account_settings.py::test_projects_published_and_drafts",
    ),
    _line(
        "User-facing routes",
        "GET /account/<name>/update",
        "pages/test_account_rows.py::test_each_row_to_each_requester_as_page_and_as_json",
        "pages/test_account_settings.py::test_the_view_has_the_keys_of_the_interface",
    ),
    _line(
        "User-facing routes",
        "POST /account/<name>/update",
        "pages/test_account_settings.py::test_a_profile_is_changed_and_nothing_else",
        "pages/test_avatars.py::test_a_picture_is_cut_out_and_served",
        "pages/test_account_settings.py::test_a_new_password_ends_all_other_sessions",
        "pages/test_account_settings.py::test_external_changes_the_key_of_the_catalogue_only",
    ),
    _line(
        "User-facing routes",
        "GET /account/reset-password?key=<reset_key>",
        "pages/test_letters_of_accounts.py::test_the_keys_of_forgot_and_reset",
    ),
    _line(
        "User-facing routes",
        "POST /account/reset-password",
        "pages/test_letters_of_accounts.py::test_a_link_gives_a_new_password_once_and_ends_every_session",
    ),
    _line(
        "User-facing routes",
        "GET /account/<user>/resetapikey",
        "pages/test_account_rows.py::test_each_row_to_each_requester_as_page_and_as_json",
        "pages/test_json_keys.py::test_a_new_api_key",
    ),
    _line(
        "User-facing routes",
        "POST /account/<user>/resetapikey",
        "pages/test_json_keys.py::test_a_new_api_key",
        "pages/test_accounts.py::test_only_oneself_and_administrators_make_a_new_key",
    ),
    _line(
        "User-facing routes",
        "GET /account/newsletter",
        "pages/test_account_settings.py::test_the_newsletter_asks_and_takes_an_answer",
    ),
    _line(
        "User-facing routes",
        "GET /account/confirm-email",
        "pages/test_letters_of_accounts.py::test_asking_for_a_letter_that_confirms",
    ),
    # User-facing routes: home, announcements, administration
    _line("User-facing routes", "GET /", f"{KEYS}::test_home"),
    _line(
        "User-facing routes",
        "GET /leaderboard/",
        f"{RANKS}::test_twenty_are_shown_and_who_asks_if_he_is_not_among_them",
    ),
    _line(
        "User-facing routes",
        "GET /leaderboard/window/<window>",
        f"{RANKS}::test_a_window_shows_those_around_who_asks",
    ),
    _line(
        "User-facing routes",
        "GET /announcements/",
        f"{ADMIN}::test_a_form_of_people_says_by_a_tick_whether_everybody_sees_it",
    ),
    _line("User-facing routes", "GET /admin/announcement", ENTRY, f"{ADMIN}::test_announcements_of_administrators"),
    _line("User-facing routes", "GET /admin/announcement/new", ENTRY, f"{ADMIN}::test_announcements_of_administrators"),
    _line(
        "User-facing routes", "POST /admin/announcement/new", FORGED, f"{ADMIN}::test_announcements_of_administrators"
    ),
    _line(
        "User-facing routes",
        "GET /admin/announcement/<id>/update",
        ENTRY,
        f"{ADMIN}::test_announcements_of_administrators",
    ),
    _line(
        "User-facing routes",
        "POST /admin/announcement/<id>/update",
        FORGED,
        f"{ADMIN}::test_announcements_of_administrators",
    ),
    _line(
        "User-facing routes",
        "POST /admin/announcement/<id>/delete",
        FORGED,
        f"{ADMIN}::test_announcements_of_administrators",
    ),
    _line("User-facing routes", "GET /admin/users", ENTRY, f"{ADMIN}::test_users"),
    _line("User-facing routes", "POST /admin/users", FORGED, f"{ADMIN}::test_users"),
    _line("User-facing routes", "GET /admin/users/add/<user_id>", ENTRY, BY_LINK, NOT_BY_OTHERS),
    _line("User-facing routes", "GET /admin/users/del/<user_id>", ENTRY, BY_LINK, NOT_BY_OTHERS),
    _line("User-facing routes", "GET /admin/categories", ENTRY, f"{ADMIN}::test_categories"),
    _line("User-facing routes", "POST /admin/categories", FORGED, f"{ADMIN}::test_categories"),
    _line(
        "User-facing routes",
        "GET /project/<short_name>/",
        *EACH_ROW,
        f"{KEYS}::test_the_project_page_for_its_owner",
        f"{KEYS}::test_the_project_page_for_others",
    ),
    _line("User-facing routes", "GET /project/<short_name>/settings", *EACH_ROW),
    _line("User-facing routes", "GET /project/<short_name>/results", f"{KEYS}::test_the_task_pages"),
    _line("User-facing routes", "GET /project/<short_name>/task/<task_id>", f"{KEYS}::test_the_task_pages"),
    # What front ends ask for beside (clients, 4; incumbent, 1.22)
    _line(
        "Further routes of projects",
        "GET /project/category/<short_name>/[page/<n>/] with orderby and desc",
        OPEN_ROW,
        f"{LISTED}::test_a_category_in_every_order",
    ),
    _line(
        "Further routes of projects",
        "GET /project/category/featured, all, draft, historical_contributions",
        OPEN_ROW,
        f"{LISTED}::test_the_shelves_that_are_no_category",
    ),
    _line("Further routes of projects", "GET /project/page/<n>", OPEN_ROW),
    _line(
        "Further routes of projects",
        "GET /project/search",
        OPEN_ROW,
        f"{LISTED}::test_a_search_finds_all_words_and_forgives_a_slip",
    ),
    _line("Further routes of projects", "GET /project/new", OPEN_ROW),
    _line(
        "Further routes of projects",
        "POST /project/new",
        TOKEN,
        f"{OWNER}::test_a_project_takes_three_fields_and_goes_on_to_its_presenter",
        f"{OWNER}::test_a_new_project_is_refused_field_by_field_and_nothing_is_lost",
    ),
    _line("Further routes of projects", "GET /project/<short_name>/update", *EACH_ROW),
    _line(
        "Further routes of projects",
        "POST /project/<short_name>/update",
        *NOT_WRITTEN,
        f"{OWNER}::test_the_details_go_back_as_a_whole_model",
        f"{OWNER}::test_details_are_refused_field_by_field",
    ),
    _line(
        "Further routes of projects",
        "POST /project/<short_name>/update with btn Upload",
        f"{OWNER}::test_a_project_gets_its_picture",
    ),
    _line(
        "Further routes of projects",
        "POST /project/<short_name>/update with protect and password",
        f"{OWNER}::test_a_password_is_set_changed_and_removed",
    ),
    _line("Further routes of projects", "GET /project/<short_name>/publish", *EACH_ROW),
    _line(
        "Further routes of projects",
        "POST /project/<short_name>/publish and pause",
        *NOT_WRITTEN,
        "pages/test_projects_of_owners.py::test_an_owner_publishes_and_pauses_with_the_forms_token",
    ),
    _line(
        "Further routes of projects",
        "GET and POST /project/<short_name>/password",
        "pages/test_projects_of_owners.py::test_a_locked_project_asks_for_its_password",
    ),
    _line(
        "Further routes of projects",
        "GET /project/<short_name>/tasks/taskpresentereditor with part and template",
        *EACH_ROW,
    ),
    _line(
        "Further routes of projects",
        "POST /project/<short_name>/tasks/taskpresentereditor",
        *NOT_WRITTEN,
        f"{OWNER}::test_a_starter_is_begun_and_its_words_are_changed_apart",
        f"{OWNER}::test_a_text_of_ones_own_is_kept_as_it_is",
    ),
    _line("Further routes of projects", "GET /project/<short_name>/tasks", f"{TASKS}::{OVERVIEW}", SEEN),
    _line(
        "Further routes of projects",
        "GET /project/<short_name>/tasks/browse[/<page>]",
        f"{TASKS}::test_a_list_of_tasks_goes_on_where_it_was",
        f"{TASKS}::test_tasks_are_chosen_by_state_and_sorted_by_their_owner",
        f"{TASKS}::test_a_number_leads_to_its_task",
        SEEN,
    ),
    _line(
        "Further routes of projects",
        "GET /project/<short_name>/<task id>/results.json",
        f"{TASKS}::test_a_task_shows_all_its_answers_and_names_only_to_its_owners",
        f"{TASKS}::test_of_a_draft_tasks_are_seen_and_answers_are_not",
        SEEN,
    ),
    _line(
        "Further routes of projects",
        "GET /project/<short_name>/tasks/export?type=&format=",
        f"{TASKS}::test_a_file_of_json_is_what_the_api_shows",
        f"{TASKS}::test_a_table_has_info_whole_and_in_columns",
        f"{TASKS}::test_no_cell_of_a_table_is_a_formula_unless_somebody_wants_it_raw",
        f"{TASKS}::test_the_choice_of_files_says_how_much_there_is",
        SEEN,
    ),
    _line(
        "Further routes of projects",
        "GET and POST /project/<short_name>/tasks/import?type=",
        f"{IMPORTS}::test_a_file_is_looked_at_mapped_and_made_to_tasks",
        f"{IMPORTS}::test_a_program_imports_in_one_request_and_what_is_there_is_left_out",
        f"{IMPORTS}::test_pasted_rows_are_looked_at_mapped_and_made_to_tasks",
        f"{IMPORTS}::test_a_file_is_fetched_from_public_addresses_alone",
        f"{IMPORTS}::test_only_owners_bring_tasks",
    ),
    _line(
        "Further routes of projects",
        "GET and POST /project/<short_name>/tasks/redundancy, form.n_answers",
        f"{CHANGES}::test_redundancy_says_what_it_would_do_and_then_does_it",
        CHANGERS,
    ),
    _line(
        "Further routes of projects",
        "GET and POST /project/<short_name>/tasks/priority, form.task_ids and form.priority_0",
        f"{CHANGES}::test_priority_is_of_named_tasks_from_0_to_1",
        CHANGERS,
    ),
    _line(
        "Further routes of projects",
        "GET and POST /project/<short_name>/tasks/scheduler, form.sched",
        f"{CHANGES}::test_the_order_of_tasks_is_chosen_and_written_down",
        CHANGERS,
    ),
    _line(
        "Further routes of projects",
        "GET and POST /project/<short_name>/tasks/delete with csrf",
        f"{CHANGES}::test_tasks_are_deleted_only_when_the_name_is_typed",
        f"{CHANGES}::test_many_tasks_change_in_the_background_and_the_owner_looks_on",
        CHANGERS,
    ),
    _line(
        "Further routes of projects",
        "GET and POST /project/<short_name>/coowners, add_coowner, del_coowner",
        *EACH_ROW,
        *NOT_WRITTEN,
        f"{OWNER}::test_coowners_are_found_added_and_removed",
        f"{OWNER}::test_get_by_a_browser_makes_nobody_a_coowner",
    ),
    _line(
        "Further routes of projects",
        "Invitation of a co-owner by link",
        *NOT_WRITTEN,
        f"{OWNER}::test_an_invitation_works_once_and_for_a_week",
        f"{OWNER}::test_two_who_open_one_invitation_at_once_are_one_coowner",
    ),
    _line(
        "Further routes of projects",
        "GET and POST /project/<short_name>/transferownership",
        *EACH_ROW,
        *NOT_WRITTEN,
        f"{OWNER}::test_a_project_is_handed_over",
    ),
    _line(
        "Further routes of projects",
        "POST /project/<short_name>/resetsecretkey",
        *NOT_WRITTEN,
        f"{OWNER}::test_the_secret_key_is_shown_and_made_anew",
    ),
    _line(
        "Further routes of projects",
        "GET /project/<short_name>/blog and /<post>",
        *EACH_ROW,
        f"{OWNER}::test_a_blog_goes_on_where_a_page_ends",
    ),
    _line(
        "Further routes of projects",
        "GET and POST /project/<short_name>/new-blogpost, /<post>/update, /<post>/delete",
        *EACH_ROW,
        *NOT_WRITTEN,
        f"{OWNER}::test_posts_are_written_changed_and_deleted",
    ),
    _line(
        "Further routes of projects",
        "GET and POST /project/<short_name>/delete",
        *EACH_ROW,
        *NOT_WRITTEN,
        f"{OWNER}::test_a_project_is_deleted_when_its_name_is_typed",
        f"{OWNER}::test_a_front_end_that_knows_no_typed_name_deletes_as_the_api_does",
    ),
    _line(
        "Further routes of projects",
        "GET /project/<short_name>/auditlog",
        *EACH_ROW,
        f"{OWNER}::test_the_log_of_a_project_is_its_own_and_goes_on",
    ),
)
