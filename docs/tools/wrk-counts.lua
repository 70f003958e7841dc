-- Has wrk print the exact count of each latency that it recorded, as one line that begins with WRKJSON:
--   wrk -c 64 -t 2 -d 30 --latency -s wrk-counts.lua URL
-- perfpipe computes exact percentiles from it, and takes out the latencies that wrk invents.

local function field(name, value)
  return string.format('"%s":%d', name, value)
end

function done(summary, latency)
  local errors = summary.errors
  local fields = {
    field("duration_us", summary.duration), field("requests", summary.requests), field("bytes", summary.bytes),
    field("connect", errors.connect), field("read", errors.read), field("write", errors.write),
    field("status", errors.status), field("timeout", errors.timeout),
  }
  local counts = {}
  for i = 1, #latency do
    counts[i] = string.format("[%d,%d]", latency(i))
  end
  fields[#fields + 1] = '"counts":[' .. table.concat(counts, ",") .. "]"
  print("WRKJSON {" .. table.concat(fields, ",") .. "}")
end
