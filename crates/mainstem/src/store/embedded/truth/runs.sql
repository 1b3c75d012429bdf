-- For whom runs looked, and whether everybody may read what they looked at: of older ones it is not known, and so it is taken to be limited.

ALTER TABLE link_runs ADD COLUMN reader TEXT;
ALTER TABLE link_runs ADD COLUMN restricted INTEGER NOT NULL DEFAULT 1;
