! Explicit steps of the heat equation on a square, tile by tile; prints the time and the total heat.
program heat
  use, intrinsic :: iso_fortran_env, only: real64, int64
  implicit none
  integer :: n, steps, tile, step, i, j, i0, j0
  integer(int64) :: from, to, rate
  real(real64), allocatable :: a(:, :), b(:, :)
  character(len=32) :: word
  call get_command_argument(1, word); read (word, *) n
  call get_command_argument(2, word); read (word, *) steps
  call get_command_argument(3, word); read (word, *) tile
  allocate (a(0:n + 1, 0:n + 1), b(0:n + 1, 0:n + 1))
  a = 0
  do j = 1, n
    do i = 1, n
      a(i, j) = mod(i*31 + j*17, 97)
    end do
  end do
  b = a
  call system_clock(from, rate)
  do step = 1, steps
    do j0 = 1, n, tile
      do i0 = 1, n, tile
        do j = j0, min(j0 + tile - 1, n)
          do i = i0, min(i0 + tile - 1, n)
            b(i, j) = a(i, j) + 0.125_real64*(a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1) - 4*a(i, j))
          end do
        end do
      end do
    end do
    a = b
  end do
  call system_clock(to)
  print '(a, es16.8)', 'seconds ', real(to - from, real64)/rate
  print '(a, es24.15)', 'total ', sum(a(1:n, 1:n))
end program heat
