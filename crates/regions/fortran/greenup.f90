! Regions: time, energy and power of named parts of a running program.
!
!   use greenup
!   call region_begin("solve")
!   ...
!   call region_end("solve")
!
! Compile this file with the program and link with -lgreenup_regions. See greenup.h for the environment.
module greenup
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_size_t
  implicit none
  private
  public :: region_begin, region_end, greenup_flush, greenup_available

  interface
    subroutine begin_n(name, length) bind(c, name="greenup_region_begin_n")
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
    end subroutine begin_n

    subroutine end_n(name, length) bind(c, name="greenup_region_end_n")
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
    end subroutine end_n

    ! 0, or -1 if something could not be written.
    function greenup_flush() bind(c, name="greenup_flush") result(code)
      import :: c_int
      integer(c_int) :: code
    end function greenup_flush

    ! Number of energy sensors; 0: time alone; -1: regions are off.
    function greenup_available() bind(c, name="greenup_available") result(sensors)
      import :: c_int
      integer(c_int) :: sensors
    end function greenup_available
  end interface

contains

  ! Begins a region in this thread. Blanks at the end of the name do not count.
  subroutine region_begin(name)
    character(len=*), intent(in) :: name
    call begin_n(name, len_trim(name, kind=c_size_t))
  end subroutine region_begin

  ! Ends a region of this thread.
  subroutine region_end(name)
    character(len=*), intent(in) :: name
    call end_n(name, len_trim(name, kind=c_size_t))
  end subroutine region_end

end module greenup
