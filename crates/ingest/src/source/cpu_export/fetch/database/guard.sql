-- Finds out what in some tables, or in what is inherited or made of them, is no plain table of PostgreSQL's own types, or
-- would run code of a role whose code does not run with these rights anyway. $1 is the schema, $2 names the tables, and $3
-- the columns that are read. pg_depend does not list functions and operators of the catalogue itself.
with recursive me as (
  select oid, rolsuper from pg_catalog.pg_roles where rolname = current_user
), trusted (oid) as (
  select r.oid from pg_catalog.pg_roles r cross join me
  where r.rolsuper or not me.rolsuper and pg_catalog.pg_has_role(me.oid, r.oid, 'usage')
), held (oid, name) as (
  select c.oid, c.relname::text
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname::text = $1 and c.relname::text = any ($2)
  union
  select i.inhrelid, h.name from pg_catalog.pg_inherits i join held h on h.oid = i.inhparent
), parts (relation, class, object) as (
  select oid, 'pg_catalog.pg_class'::pg_catalog.regclass::oid, oid from held
  union all select indrelid, 'pg_catalog.pg_class'::pg_catalog.regclass::oid, indexrelid from pg_catalog.pg_index
  union all select conrelid, 'pg_catalog.pg_constraint'::pg_catalog.regclass::oid, oid from pg_catalog.pg_constraint
  union all select stxrelid, 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass::oid, oid
    from pg_catalog.pg_statistic_ext
  union all select adrelid, 'pg_catalog.pg_attrdef'::pg_catalog.regclass::oid, d.oid
    from pg_catalog.pg_attrdef d join pg_catalog.pg_attribute a on a.attrelid = adrelid and a.attnum = adnum
    where a.attname::text = any ($3)
), code (class, object, owner) as (
  select 'pg_catalog.pg_proc'::pg_catalog.regclass::oid, oid, proowner from pg_catalog.pg_proc
  union all
  select 'pg_catalog.pg_operator'::pg_catalog.regclass::oid, o.oid, p.proowner
  from pg_catalog.pg_operator o join pg_catalog.pg_proc p on p.oid = o.oprcode
  union all
  select 'pg_catalog.pg_operator'::pg_catalog.regclass::oid, oid, oprowner from pg_catalog.pg_operator
)
select pg_catalog.format('%s is no plain table, but another kind of relation (%s)', h.name, c.relkind) as found
from held h join pg_catalog.pg_class c on c.oid = h.oid where c.relkind not in ('r', 'p')
union all
select pg_catalog.format('row security hides rows of %s', h.name)
from held h where pg_catalog.row_security_active(h.oid)
union all
select pg_catalog.format('the column %s of %s is of a type that is not PostgreSQL''s own', a.attname, h.name)
from held h
join pg_catalog.pg_attribute a on a.attrelid = h.oid and a.attnum > 0 and not a.attisdropped
join pg_catalog.pg_type t on t.oid = a.atttypid
join pg_catalog.pg_namespace n on n.oid = t.typnamespace
where a.attname::text = any ($3) and n.nspname <> 'pg_catalog'
union all
select pg_catalog.format('%s has an index, a constraint or a partition that calls the %s of another role', h.name,
  pg_catalog.pg_describe_object(d.refclassid, d.refobjid, 0))
from held h
join parts p on p.relation = h.oid
join pg_catalog.pg_depend d on d.classid = p.class and d.objid = p.object
join code c on c.class = d.refclassid and c.object = d.refobjid
where c.owner not in (select oid from trusted)
