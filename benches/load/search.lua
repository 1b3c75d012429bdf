-- Sends the bodies of a file one after another, each thread from another place on, and counts what comes back.
local bodies, threads = {}, {}

for line in io.lines(os.getenv("BODIES")) do
    bodies[#bodies + 1] = line
end

function setup(thread)
    thread:set("id", #threads)
    threads[#threads + 1] = thread
end

function init()
    at = id * 37
    ok, crowded, other = 0, 0, 0
end

function request()
    at = at + 1
    return wrk.format("POST", "/v1/search", { ["content-type"] = "application/json" }, bodies[at % #bodies + 1])
end

function response(status)
    if status == 200 then
        ok = ok + 1
    elseif status == 503 then
        crowded = crowded + 1
    else
        other = other + 1
    end
end

function done(summary, latency)
    local counts = { ok = 0, crowded = 0, other = 0 }
    for _, thread in ipairs(threads) do
        for name in pairs(counts) do
            counts[name] = counts[name] + thread:get(name)
        end
    end
    local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
    io.write(string.format(
        '{"ok": %d, "crowded": %d, "other": %d, "errors": %d, "seconds": %.3f, "p50": %.3f, "p99": %.3f}\n',
        counts.ok, counts.crowded, counts.other, errors,
        summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3
    ))
end
