# Sums the squares of whole numbers, a block a task; prints the time and the sum.
const n, block = parse.(Int, ARGS)

function squares(x, block)
    blocks = [i:min(i + block - 1, length(x)) for i in 1:block:length(x)]
    sums = zeros(length(blocks))
    Threads.@threads for k in eachindex(blocks)
        s = 0.0
        for i in blocks[k]
            @inbounds s += x[i] * x[i]
        end
        sums[k] = s
    end
    sum(sums)
end

x = [Float64(i % 1009) for i in 1:n]
squares(x, block)
seconds = @elapsed s = squares(x, block)
println("seconds ", seconds)
println("sum ", s)
