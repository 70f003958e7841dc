-- Distributes the tables that all runs share over the nodes of a Citus cluster. Each run's rows of all of them are on one node.
-- Runs once after tables.sql, or after a migration, inside a transaction.

select pg_catalog.create_reference_table('perfpipe.layout');
select pg_catalog.create_distributed_table('perfpipe.runs', 'run', colocate_with => 'none');
select pg_catalog.create_distributed_table('perfpipe.seconds', 'run', colocate_with => 'perfpipe.runs');
select pg_catalog.create_distributed_table('perfpipe.cpu', 'run', colocate_with => 'perfpipe.runs');
select pg_catalog.create_distributed_table('perfpipe.errors', 'run', colocate_with => 'perfpipe.runs');
select pg_catalog.create_distributed_table('perfpipe.labels', 'run', colocate_with => 'perfpipe.runs');
select pg_catalog.create_distributed_table('perfpipe.rejects', 'run', colocate_with => 'perfpipe.runs');
