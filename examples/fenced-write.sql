-- Writes into a row, unless somebody with a larger token has written before:
--   psql -v token=$HABEMUS_TOKEN -v body='written in time' -f examples/fenced-write.sql
-- UPDATE 1 says that it was written, UPDATE 0 that it came too late.
CREATE TABLE IF NOT EXISTS report (id int PRIMARY KEY, body text NOT NULL, token bigint NOT NULL);
INSERT INTO report VALUES (1, '', 0) ON CONFLICT DO NOTHING;

UPDATE report SET body = :'body', token = :token WHERE id = 1 AND token <= :token;
