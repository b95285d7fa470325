-- expands: how far volunteers agree, with intervals, as an analysis of the answers found it

CREATE TABLE agreement_figures (
    analysis_id bigint PRIMARY KEY REFERENCES analysis ON DELETE CASCADE,
    project_id bigint NOT NULL,
    tasks bigint NOT NULL,                              -- with two answers or more
    answers bigint NOT NULL,                            -- to these
    measures jsonb NOT NULL,                            -- array of AgreementMeasure (crowdd/features/results/rows.py), and so on
    classes jsonb NOT NULL,
    pairs jsonb NOT NULL,
    difficult jsonb NOT NULL,
    checked jsonb NOT NULL                              -- array of CheckedAgreement
);
CREATE INDEX agreement_figures_project ON agreement_figures (project_id, analysis_id);
