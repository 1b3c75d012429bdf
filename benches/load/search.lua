-- Sends the bodies of a file one after another, each thread from another place on, and counts what comes back.
--
-- wrk times all answers together, refusals too. A request carries the time as its id, which comes back with the answer: so searches that were
-- answered are timed by themselves.
local ffi = require("ffi")
ffi.cdef [[
    typedef struct { long seconds; long nanoseconds; } moment;
    int clock_gettime(int clock, moment *now);
]]

-- Times are counted in buckets, each 2 % wider than the one before, from a microsecond on.
local STEP = math.log(1.02)
local MONOTONIC = 1

local bodies, threads = {}, {}
local moment = ffi.new("moment")

for line in io.lines(os.getenv("BODIES")) do
    bodies[#bodies + 1] = line
end

local function microseconds()
    ffi.C.clock_gettime(MONOTONIC, moment)
    return tonumber(moment.seconds) * 1e6 + tonumber(moment.nanoseconds) / 1e3
end

function setup(thread)
    thread:set("id", #threads)
    threads[#threads + 1] = thread
end

function init()
    at = id * 37
    ok, crowded, other = 0, 0, 0
    times = {}
end

function request()
    at = at + 1
    local headers = { ["content-type"] = "application/json", ["x-request-id"] = string.format("%.0f", microseconds()) }
    return wrk.format("POST", "/v1/search", headers, bodies[at % #bodies + 1])
end

function response(status, headers)
    if status == 200 then
        ok = ok + 1
        local took = math.max(1, microseconds() - tonumber(headers["x-request-id"]))
        local bucket = math.floor(math.log(took) / STEP)
        times[bucket] = (times[bucket] or 0) + 1
    elseif status == 503 and headers["retry-after"] then
        crowded = crowded + 1
    else
        other = other + 1
    end
end

local function percentile(counts, total, percent)
    local buckets, seen = {}, 0
    for bucket in pairs(counts) do
        buckets[#buckets + 1] = bucket
    end
    table.sort(buckets)
    for _, bucket in ipairs(buckets) do
        seen = seen + counts[bucket]
        if seen >= total * percent / 100 then
            return math.exp((bucket + 0.5) * STEP) / 1e3
        end
    end
    return 0
end

function done(summary, latency)
    local counts, taken = { ok = 0, crowded = 0, other = 0 }, {}
    for _, thread in ipairs(threads) do
        for name in pairs(counts) do
            counts[name] = counts[name] + thread:get(name)
        end
        for bucket, count in pairs(thread:get("times")) do
            taken[bucket] = (taken[bucket] or 0) + count
        end
    end
    local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
    io.write(string.format(
        '{"ok": %d, "crowded": %d, "other": %d, "errors": %d, "seconds": %.3f, "p50": %.3f, "p99": %.3f, "all_p50": %.3f, "all_p99": %.3f}\n',
        counts.ok, counts.crowded, counts.other, errors, summary.duration / 1e6,
        percentile(taken, counts.ok, 50), percentile(taken, counts.ok, 99),
        latency:percentile(50) / 1e3, latency:percentile(99) / 1e3
    ))
end
