"""Edges of an image in Triton: a program has strips of rows side by side and goes down all of them at once. What a
pixel needs of the rows above is in registers; its two neighbours on each side are loads that the L1 cache answers."""

import triton
import triton.language as tl

# Pixels that a program computes at a time.
TILE = 512
# Programs that keep a GPU busy, and how many rows a strip has then.
ENOUGH = 8192
MOST_ROWS, FEWEST_ROWS = 32, 4


@triton.jit
def grey_at(pixel):
    red = tl.load(pixel).to(tl.int32)
    green = tl.load(pixel + 1).to(tl.int32)
    blue = tl.load(pixel + 2).to(tl.int32)
    return (77 * red + 150 * green + 29 * blue + 128) >> 8


@triton.jit
def pipeline_kernel(image, edges, height, width, across, rows, STRIPS: tl.constexpr, COLUMNS: tl.constexpr):
    tile = tl.program_id(0)
    column = (tile % across).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    # 64 bits: an offset, 3 * row * width, outgrows 32 bits long before a row number does.
    first = ((tile // across).to(tl.int64) * STRIPS + tl.arange(0, STRIPS)[:, None]) * rows
    end = tl.minimum(first + rows, height)
    inside = (column < width) & (first < height)
    first_column, last_column = column == 0, column == width - 1
    # Pixels in columns beyond the image are those of its first or last column, so no load needs a mask.
    pixel0 = image + 3 * tl.minimum(tl.maximum(column - 2, 0), width - 1)
    pixel1 = image + 3 * tl.minimum(tl.maximum(column - 1, 0), width - 1)
    pixel2 = image + 3 * tl.minimum(column, width - 1)
    pixel3 = image + 3 * tl.minimum(column + 1, width - 1)
    pixel4 = image + 3 * tl.minimum(column + 2, width - 1)
    # Smoothed rows in the columns to the left, here and to the right: the newest, and the sums that lack one row.
    zeros = tl.zeros((STRIPS, COLUMNS), tl.int32)
    left_row, own_row, right_row = zeros, zeros, zeros
    left_sum, own_sum, right_sum = zeros, zeros, zeros
    # Of the two newest blurred rows: how much they rise across, and their smoothed numbers.
    slope0, slope1, smooth0, smooth1 = zeros, zeros, zeros, zeros
    for i in range(-2, rows + 2):
        row = first + i
        start = 3 * width * tl.minimum(tl.maximum(row, 0), height - 1)
        g0 = grey_at(pixel0 + start)
        g1 = grey_at(pixel1 + start)
        g2 = grey_at(pixel2 + start)
        g3 = grey_at(pixel3 + start)
        g4 = grey_at(pixel4 + start)
        left, own, right = g0 + 2 * g1 + g2, g1 + 2 * g2 + g3, g2 + 2 * g3 + g4
        blur = (own_sum + own + 8) >> 4
        # Beyond the image the blurred values repeat; they are not blurs of repeated pixels.
        blur_left = tl.where(first_column, blur, (left_sum + left + 8) >> 4)
        blur_right = tl.where(last_column, blur, (right_sum + right + 8) >> 4)
        # The blurred row is `row - 1`.
        slope = tl.where(row > height, slope1, blur_right - blur_left)
        smooth = tl.where(row > height, smooth1, blur_left + 2 * blur + blur_right)
        slope1 = tl.where(row == 1, slope, slope1)
        smooth1 = tl.where(row == 1, smooth, smooth1)
        done = row - 2
        strength = tl.minimum(tl.abs(slope0 + 2 * slope1 + slope) + tl.abs(smooth - smooth0), 255)
        there = inside & (done >= first) & (done < end)
        tl.store(edges + done * width + column, strength.to(tl.uint8), mask=there)
        slope0, slope1, smooth0, smooth1 = slope1, slope, smooth1, smooth
        left_sum, own_sum, right_sum = left_row + 2 * left, own_row + 2 * own, right_row + 2 * right
        left_row, own_row, right_row = left, own, right


def solve(image, edges, height, width):
    if height == 0 or width == 0:
        return  # there is nothing to write
    columns = min(triton.next_power_of_2(width), TILE)
    strips = TILE // columns
    across, rows = triton.cdiv(width, columns), MOST_ROWS
    while rows > FEWEST_ROWS and across * triton.cdiv(height, strips * rows) < ENOUGH:
        rows //= 2
    while rows > 1 and strips * (rows // 2) >= height:
        rows //= 2  # strips of one program do
    pipeline_kernel[(across * triton.cdiv(height, strips * rows),)](
        image, edges, height, width, across, rows, STRIPS=strips, COLUMNS=columns
    )
