-- The work that bench/latency-truth gives to lua: words of a made-up text are counted, sorted,
-- formatted and joined again, as often as the argument says.
local seed = 42

local function random(below)
	seed = (seed * 1103515245 + 12345) % 2147483648
	return seed % below
end

local function make_word()
	local letters = {}
	for i = 1, 2 + random(6) do
		letters[i] = string.char(97 + random(26))
	end
	return table.concat(letters)
end

local function make_text(words)
	local list = {}
	for i = 1, words do
		list[i] = make_word()
	end
	return table.concat(list, " ")
end

local function count(text)
	local counts = {}
	for word in text:gmatch("%a+") do
		local start = word:sub(1, 3)
		counts[start] = (counts[start] or 0) + 1
	end
	return counts
end

local function sorted(counts)
	local list = {}
	for word, number in pairs(counts) do
		list[#list + 1] = { word, number }
	end
	table.sort(list, function(a, b)
		if a[2] ~= b[2] then
			return a[2] > b[2]
		end
		return a[1] < b[1]
	end)
	return list
end

local function show(list)
	local lines = {}
	for _, entry in ipairs(list) do
		lines[#lines + 1] = string.format("%-8s %5d", entry[1], entry[2])
	end
	return table.concat(lines, "\n")
end

local size = 0
for i = 1, tonumber(arg[1]) do
	local text = make_text(4000)
	size = size + #show(sorted(count(text))) + #(text:gsub("ab+", string.upper)):reverse()
	size = size + load("return function(x) return x + " .. i .. " end")()(1)
end
print(size)
