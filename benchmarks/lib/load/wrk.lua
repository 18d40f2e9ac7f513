-- wrk -s wrk.lua URL -- METHOD DEPTH COOKIES BODY
-- CONNECTIONS, in the environment, is what -c says: done() is given neither it nor the arguments.
-- DEPTH requests go out in one write; with COOKIES above 0 as many different Cookie headers go round.
-- VERSION is of HTTP: with 1.0 each request has a connection of its own, as ab's.
-- With FAILING every response must have a status of 400 or more: the others are errors.
-- With SETTLE, seconds, it says when they are over, and how many requests went out until then.

local ffi = require('ffi')
ffi.cdef('typedef struct { long s, us; } when_t; int gettimeofday(when_t *, void *);')
-- how many responses took how many µs, as wrk 4.0 to 4.2 keeps it; what it has for scripts counts from 0 at every call
ffi.cdef('typedef struct { uint64_t count, limit, min, max, data[1]; } latencies_t;')
local when = ffi.new('when_t')

local function now ()
  ffi.C.gettimeofday(when, nil)
  return tonumber(when.s) + tonumber(when.us) / 1e6
end

local function settling (requests, settle)
  local sent, over = 0, nil
  return function ()
    sent = sent + 1
    if over ~= true and sent % 64 == 0 then
      over = over or now() + settle
      if now() > over then
        over = true
        io.write(string.format('{"settled":%d}\n', sent))
        io.flush()
      end
    end
    return requests
  end
end

function init (args)
  wrk.method = args[1]
  local depth, cookies = tonumber(args[2]), tonumber(args[3])
  if args[4] and args[4] ~= '' then wrk.body = args[4] end

  local format, version = wrk.format, ' HTTP/' .. (os.getenv('VERSION') or '1.1')
  local function plain () return (format():gsub(' HTTP/1%.1', version, 1)) end
  if cookies == 0 then
    local requests = plain():rep(depth)
    wrk.format = function () return requests end
    local settle = tonumber(os.getenv('SETTLE') or '0')
    if settle > 0 then request = settling(requests, settle) end
    return
  end

  local made, at = {}, 0
  for i = 1, cookies do
    wrk.headers['Cookie'] = string.format('theme=dark; sid=%08x%024d; seen=%d', i * 2654435761 % 4294967296, i, i)
    made[i] = plain():rep(depth)
  end
  request = function ()
    at = at % #made + 1
    return made[at]
  end
end

-- For every response that took two or more of the average interval, wrk has by now added the latencies of the
-- requests it believes were held back meanwhile. They are taken away again, from the longest down: the mean must be
-- that of real responses, or Little's law seems broken by whatever stalled once.
local function meanOf (latency, interval)
  local all = ffi.cast('latencies_t **', ffi.cast('void *', latency))[0]
  if tonumber(all.min) ~= latency.min or tonumber(all.max) ~= latency.max then
    error('this wrk is not one of 4.0 to 4.2: where it keeps latencies is not known')
  end
  local data, responses, sum = all.data, 0, 0
  for us = latency.max, 0, -1 do
    local count = data[us]
    if count > 0 then
      responses, sum = responses + tonumber(count), sum + tonumber(count) * us
      local added = us >= interval * 2 and us - interval or 0
      while added > interval do
        data[added] = data[added] - count
        added = added - interval
      end
    end
  end
  return sum / responses
end

function done (summary, latency)
  local e = summary.errors
  local wrong = os.getenv('FAILING') == 'true' and summary.requests - e.status or e.status
  local each = math.floor(summary.requests / tonumber(os.getenv('CONNECTIONS')))
  local mean = each > 0 and meanOf(latency, math.floor(summary.duration / each)) or latency.mean
  io.write(string.format('\n{"requests":%d,"seconds":%.6f,"bytes":%d,"errors":%d,"mean":%.4f}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    e.connect + e.read + e.write + wrong + e.timeout, mean / 1e3))
end
