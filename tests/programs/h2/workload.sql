-- A fixed piece of work for H2: schema, rows, joins, windows, constraints, functions.
CREATE TABLE account (id INT PRIMARY KEY, owner VARCHAR(40) NOT NULL, kind ENUM('CHECKING', 'SAVINGS'), cents BIGINT DEFAULT 0 CHECK (cents >= 0));
CREATE TABLE transfer (id IDENTITY, source INT REFERENCES account, goal INT REFERENCES account, cents BIGINT);
CREATE INDEX by_owner ON account (owner);
INSERT INTO account VALUES (1, 'ada', 'CHECKING', 120000), (2, 'bob', 'SAVINGS', 8050), (3, 'cyd', 'CHECKING', 0);
INSERT INTO transfer (source, goal, cents) SELECT a.id, b.id, a.cents / 10 + b.id FROM account a JOIN account b ON a.id < b.id ORDER BY 1, 2;
UPDATE account a SET cents = cents - COALESCE((SELECT SUM(t.cents) FROM transfer t WHERE t.source = a.id), 0) WHERE EXISTS (SELECT 1 FROM transfer t WHERE t.source = a.id);
SELECT * FROM account ORDER BY id;
SELECT owner, kind, cents, RANK() OVER (ORDER BY cents DESC) AS place, SUM(cents) OVER (ORDER BY id) AS running FROM account ORDER BY id;
SELECT a.owner, COUNT(*) AS n, SUM(t.cents) AS total FROM account a LEFT JOIN transfer t ON t.source = a.id GROUP BY a.owner HAVING COUNT(*) > 0 ORDER BY total DESC NULLS LAST;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT SUM(i), MAX(i) FROM n;
SELECT UPPER(owner), LPAD(owner, 6, '.'), CASE WHEN cents > 10000 THEN 'rich' ELSE 'poor' END, REGEXP_REPLACE(owner, '[aeiou]', '_') FROM account WHERE owner LIKE '%b%' OR cents BETWEEN 1 AND 200000 ORDER BY id;
MERGE INTO account USING (VALUES (3, 'cyd'), (4, 'dot')) v(id, owner) ON account.id = v.id WHEN MATCHED THEN UPDATE SET cents = 7 WHEN NOT MATCHED THEN INSERT (id, owner, kind) VALUES (v.id, v.owner, 'SAVINGS');
SELECT id, owner, cents FROM account ORDER BY id;
EXPLAIN SELECT * FROM account WHERE owner = 'ada';
DELETE FROM transfer WHERE cents > 12001;
SELECT COUNT(*) FROM transfer;
SELECT JSON_OBJECT('a': 1, 'b': JSON_ARRAY(1, 2)), CAST('2024-02-29' AS DATE) + INTERVAL '1' YEAR, 1.5E0 * 2, 10.00 / 3;
DROP TABLE transfer;
