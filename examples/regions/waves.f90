! A wave equation, with regions for its parts.
!
!   gfortran -O2 ../../crates/regions/fortran/greenup.f90 waves.f90 -L../../target/debug -lgreenup_regions -o waves
!   LD_LIBRARY_PATH=../../target/debug ./waves
program waves
  use greenup
  implicit none
  integer, parameter :: n = 20000, steps = 500
  real(8) :: u(n), v(n), w(n)
  integer :: i, step

  call region_begin("setup")
  do i = 1, n
    u(i) = exp(-1d-5 * real(i - n / 2, 8)**2)
  end do
  v = u
  call region_end("setup")

  call region_begin("solve")
  do step = 1, steps
    call region_begin("step")
    w = 0
    w(2:n-1) = 2 * u(2:n-1) - v(2:n-1) + 0.25d0 * (u(1:n-2) - 2 * u(2:n-1) + u(3:n))
    v = u
    u = w
    call region_end("step")
  end do
  call region_end("solve")
  print '(a, f10.6)', "sum ", sum(u)
end program waves
