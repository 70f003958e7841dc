-- Finds out how tables of the schema perfpipe differ from those that perfpipe made. $1 names the tables, $2 is true if
-- they will be written to. A write runs the code of anyone who owns a table or may put a trigger on it.
with recursive me as (
  select oid, rolsuper from pg_catalog.pg_roles where rolname = current_user
), groups (oid) as (
  select oid from me
  union
  select m.roleid from pg_catalog.pg_auth_members m join groups g on g.oid = m.member
), trusted (oid) as (
  -- A superuser has the rights of every role, so only granted memberships count for one.
  select r.oid from pg_catalog.pg_roles r cross join me
  where r.rolsuper
    or pg_catalog.pg_has_role(me.oid, r.oid, 'usage') and (not me.rolsuper or r.oid in (select oid from groups))
), held as (
  select c.oid, c.relname::text as name, c.relkind, c.relowner
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'perfpipe' and c.relname::text = any ($1)
), columns (name, attribute, type) as (
  -- Columns that are read in the binary form of their type. The empty name stands for a run's own table of samples.
  values ('seconds', 'second', 'int4'), ('seconds', 'label', 'text'), ('seconds', 'success', 'bool'),
    ('seconds', 'transaction', 'bool'), ('seconds', 'samples', 'int8'), ('seconds', 'packed', 'bytea'),
    ('cpu', 'clock', 'int8'), ('cpu', 'value', 'float8'),
    ('series', 'name', 'text'), ('series', 'unit', 'text'), ('series', 'clock', 'int8'), ('series', 'value', 'float8'),
    ('errors', 'second', 'int4'), ('errors', 'label', 'text'), ('errors', 'response_code', 'text'),
    ('errors', 'message', 'text'), ('errors', 'transaction', 'bool'), ('errors', 'count', 'int8'),
    ('labels', 'label', 'text'), ('labels', 'successes', 'int8'), ('labels', 'failures', 'int8'),
    ('labels', 'transactions', 'int8'),
    ('rejects', 'number', 'int8'), ('rejects', 'file', 'text'), ('rejects', 'member', 'text'),
    ('rejects', 'line', 'int8'), ('rejects', 'byte', 'int8'), ('rejects', 'reason', 'text'),
    ('rejects', 'record', 'text'), ('rejects', 'code', 'text'),
    ('', 't_ms', 'int4'), ('', 'elapsed', 'int4'), ('', 'latency', 'int4'), ('', 'connect', 'int4'),
    ('', 'idle_time', 'int4'), ('', 'all_threads', 'int4'), ('', 'bytes', 'int8'), ('', 'sent_bytes', 'int8'),
    ('', 'cpu', 'float8'), ('', 'success', 'bool'), ('', 'transaction', 'bool'), ('', 'label', 'text'),
    ('', 'response_code', 'text'), ('', 'injector', 'text'), ('', 'line', 'int8'), ('', 'second', 'int4')
), parts (relation, class, object) as (
  select indrelid, 'pg_catalog.pg_class'::pg_catalog.regclass::oid, indexrelid from pg_catalog.pg_index
  union all select conrelid, 'pg_catalog.pg_constraint'::pg_catalog.regclass::oid, oid from pg_catalog.pg_constraint
  union all select adrelid, 'pg_catalog.pg_attrdef'::pg_catalog.regclass::oid, oid from pg_catalog.pg_attrdef
  union all select stxrelid, 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass::oid, oid
    from pg_catalog.pg_statistic_ext
)
select 'schema' as kind, 'perfpipe' as name, r.rolname::text as detail
from pg_catalog.pg_namespace n join pg_catalog.pg_roles r on r.oid = n.nspowner
where $2 and n.nspname = 'perfpipe' and n.nspowner not in (select oid from trusted)
union all
select 'owner', h.name, r.rolname::text from held h join pg_catalog.pg_roles r on r.oid = h.relowner
where $2 and h.relowner not in (select oid from trusted)
union all
select 'kind', name, relkind::text from held
where relkind <> case when name in ('elapsed_counts', 'per_second') then 'v'::"char" else 'r'::"char" end
union all
select 'security', name, '' from held where relkind = 'r' and pg_catalog.row_security_active(oid)
union all
select 'child', h.name, i.inhrelid::pg_catalog.regclass::text
from held h join pg_catalog.pg_inherits i on i.inhparent = h.oid
-- The tables of a run's other stripes are looked at themselves.
where not (i.inhrelid in (select oid from held) and h.name <> 'layout' and h.name not in (select name from columns))
union all
select 'type', h.name, a.attname::text
from held h
join pg_catalog.pg_attribute a on a.attrelid = h.oid and a.attnum > 0 and not a.attisdropped
join pg_catalog.pg_type t on t.oid = a.atttypid
join pg_catalog.pg_namespace n on n.oid = t.typnamespace
where n.nspname <> 'pg_catalog'
union all
select 'other type', h.name, a.attname::text
from held h
join columns c on c.name = case
  when h.name in ('layout', 'runs', 'elapsed_counts', 'per_second') or h.name in (select name from columns) then h.name
  else '' end
join pg_catalog.pg_attribute a on a.attrelid = h.oid and a.attname = c.attribute::name and not a.attisdropped
join pg_catalog.pg_type t on t.oid = a.atttypid
where t.typname <> c.type::name
  -- Times are as wide as the run's unit needs, and read in either width.
  and not (c.name = '' and c.attribute in ('elapsed', 'latency', 'connect') and t.typname = 'int8')
union all
-- pg_depend does not list functions and operators of the catalogue itself, since they can't be dropped.
select 'code', h.name, pg_catalog.pg_describe_object(d.refclassid, d.refobjid, 0)
from held h
join parts p on p.relation = h.oid
join pg_catalog.pg_depend d on d.classid = p.class and d.objid = p.object
where d.refclassid in
  ('pg_catalog.pg_proc'::pg_catalog.regclass::oid, 'pg_catalog.pg_operator'::pg_catalog.regclass::oid)
union all
select 'trigger', h.name, t.tgname::text from held h join pg_catalog.pg_trigger t on t.tgrelid = h.oid
where $2 and not t.tgisinternal and t.tgenabled <> 'D'
union all
select 'rule', h.name, w.rulename::text from held h join pg_catalog.pg_rewrite w on w.ev_class = h.oid
where $2 and h.relkind = 'r' and w.ev_enabled <> 'D'
union all
select 'reference', h.name, k.conrelid::pg_catalog.regclass::text
from held h join pg_catalog.pg_constraint k on k.confrelid = h.oid and k.contype = 'f'
where $2 and k.conrelid not in (select oid from held)
union all
select 'event', 'perfpipe', e.evtname::text
from pg_catalog.pg_event_trigger e join pg_catalog.pg_proc f on f.oid = e.evtfoid
where $2 and e.evtenabled <> 'D' and f.proowner not in (select oid from trusted)
