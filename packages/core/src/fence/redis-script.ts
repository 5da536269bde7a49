/**
 * The verdict of `judge()`, the mark and the effect in one step; Redis runs nothing else meanwhile.
 * The mark is raised first: a command that fails takes back nothing that came before it.
 *
 * KEYS: the mark, then what the commands name. ARGV: cluster, epoch and holder of the token, the
 * only cluster admitted or '', then each command as the number of its words and the words.
 */
export const REDIS_SCRIPT = `
local cluster, epoch, holder, only = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local mark = redis.call('HMGET', KEYS[1], 'cluster', 'epoch', 'holder')
local high = tonumber(mark[2] or '0')
if redis.call('EXISTS', KEYS[1]) == 1 and not (mark[1] and mark[2] and mark[3] and high) then
  return {'corrupt'}
end
if cluster ~= (mark[1] or cluster) or cluster ~= (only ~= '' and only or cluster) then
  return {'foreign', mark[2] or '0'}
end
if tonumber(epoch) < high then return {'stale', mark[2]} end
if tonumber(epoch) == high and holder ~= mark[3] then return {'conflict', mark[2]} end
if epoch ~= mark[2] then
  redis.call('HSET', KEYS[1], 'cluster', cluster, 'epoch', epoch, 'holder', holder)
end
local replies, at = {}, 5
while ARGV[at] do
  local words = tonumber(ARGV[at])
  replies[#replies + 1] = redis.call(unpack(ARGV, at + 1, at + words))
  at = at + words + 1
end
return {'admitted', replies}
`;
